"""nvtripy's surface beside ours: how functions are called, and which dtypes go together.

What nvtripy offers is in `fixtures/nvtripy.yaml`; what differs on purpose is a list in
`docs/coming-from-nvtripy.md`.
"""

import inspect
import itertools
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.language.evaluate import evaluate
from tripybuild.language.grammar import parse
from tripybuild.language.names import free_names
from tripybuild.process import paths
from tripybuild.schema.operator.checks import tensor_methods
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.schema.operator.operator import Operator
from tripybuild.testing.cases import constant_tensor
from tripybuild.testing.registry import registry
from tripybuild.testing.sample import BoundSample, SampleOperand, bind
from tripybuild.trace.location import UnknownLocation, at
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import ValuePattern, options
from tripybuild.types.vocabulary import SHAPE

ROOT = Path(__file__).parent.parent.parent
FACTS = yaml.safe_load((ROOT / "tests/fixtures/nvtripy.yaml").read_text(encoding="utf-8"))
REGISTRY = registry(paths.registry())
OPERATORS: Mapping[str, Operator] = REGISTRY.operators
BY_METHOD = {m: o for o in OPERATORS.values() for m in tensor_methods(o)}
DTYPES = tuple(BY_NAME[name] for name in FACTS["others"]["dtypes"] if name in BY_NAME)
SYMBOLS = [
    f"Tensor.{name}" if kind == "tensor members" else name
    for kind, names in FACTS["others"].items()
    for name in names
]


@dataclass(frozen=True)
class Entry:
    """A function or a method of nvtripy.

    Its calls, which arguments may be numbers beside tensors, and its dtypes in and out.
    """

    name: str
    calls: tuple[str, ...]
    numbers: frozenset[str]
    takes: str | None
    gives: str | None
    is_method: bool
    operator: Operator | None
    function: Callable[..., Any] | None

    def __str__(self) -> str:
        return f"Tensor.{self.name}" if self.is_method else self.name

    @property
    def inputs(self) -> list[str]:
        """Our names of the tensors, that of a method first."""
        assert self.operator is not None
        own = list(self.operator.inputs)
        reflected = self.is_method and self.name == self.operator.aliases.reflected
        return own[::-1] if reflected else own


def _entry(name: str, group: str) -> Entry:
    said = FACTS[group][name]
    calls, takes, gives = (said.get(key) for key in ("calls", "takes", "gives"))
    is_method = group == "methods"
    operator = (BY_METHOD if is_method else OPERATORS).get(name)
    function = getattr(tp.Tensor if is_method else tp, name, None)
    numbers = frozenset(said.get("numbers", ()))
    return Entry(name, tuple(calls), numbers, takes, gives, is_method, operator, function)


ENTRIES = [_entry(name, group) for group in ("operators", "methods") for name in FACTS[group]]


@cache
def differences() -> Mapping[tuple[str, str], str]:
    """What `docs/coming-from-nvtripy.md` lists: `relu` and `dtypes` lead to the reason."""
    text = (ROOT / "docs/coming-from-nvtripy.md").read_text(encoding="utf-8")
    found: dict[tuple[str, str], str] = {}
    for names, aspect, reason in re.findall(
        r"^- ((?:`[\w. ]+`(?:, )?)+) \((\w+)\): (.+)", text, re.MULTILINE
    ):
        found |= {(name, aspect): reason for name in re.findall(r"`([\w. ]+)`", names)}
    return found


# --- how it is called ---


def ways(function: Callable[..., Any]) -> list[str]:
    """Our signatures, spelt as the facts spell nvtripy's."""
    overloads = typing.get_overloads(function)
    return [spelt(inspect.signature(each)) for each in overloads or [function]]


def spelt(signature: inspect.Signature) -> str:
    """`input, dim=None, keepdim=False`, with `*` before what can be given by name only."""
    parts: list[str] = []
    for parameter in signature.parameters.values():
        keyword = parameter.kind is parameter.KEYWORD_ONLY
        if keyword and not any(part.startswith("*") for part in parts):
            parts.append("*")
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        default = "" if parameter.default is parameter.empty else f"={parameter.default}"
        quotes = isinstance(parameter.default, str)
        default = f"={parameter.default!r}" if quotes else default
        name = "kwargs" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
        parts.append(f"{stars.get(parameter.kind, '')}{name}{default}")
    return ", ".join(parts)


def ours_called(entry: Entry) -> list[str]:
    """Our signatures, under nvtripy's names of the tensor that a method belongs to."""
    assert entry.function is not None
    if not entry.is_method:
        return ways(entry.function)
    renamed = dict(
        zip(("self", entry.inputs[1] if len(entry.inputs) > 1 else ""), _own(entry), strict=False)
    )
    found = []
    for way in ways(entry.function):
        names = [part.partition("=") for part in way.split(", ")]
        found.append(", ".join(renamed.get(n, n) + equals + value for n, equals, value in names))
    return found


def _own(entry: Entry) -> list[str]:
    """What nvtripy calls the first two tensors of a method."""
    return [part.partition("=")[0] for part in entry.calls[0].split(", ")][:2]


def ours_numbers(entry: Entry) -> frozenset[str]:
    """The tensors of ours that may be numbers, under nvtripy's names."""
    assert entry.operator is not None
    names = [name for name in entry.inputs if _takes_number(entry.operator, name)]
    if not entry.is_method:
        return frozenset(names)
    renamed = dict(zip(entry.inputs, _own(entry), strict=False))
    return frozenset(renamed[name] for name in names if name != entry.inputs[0])


def _takes_number(operator: Operator, name: str) -> bool:
    forms = options(operator.inputs[name].pattern)
    return any(isinstance(form, ValuePattern) and form.kind == "number" for form in forms)


def constructor(name: str) -> str:
    """What a module is made with."""
    return spelt(inspect.signature(getattr(tp, name)))


def called_with(path: str) -> str:
    """What something that is no operator is called with; the object that has it is left out."""
    *homes, name = path.split(".")
    home: Any = tp
    for each in homes:
        home = getattr(home, each)
    found = inspect.getattr_static(home, name)
    signature = inspect.signature(found if isinstance(found, staticmethod) else getattr(home, name))
    parameters = list(signature.parameters.values())
    method = inspect.isclass(home) and not isinstance(found, (staticmethod, classmethod))
    return spelt(signature.replace(parameters=parameters[1:] if method else parameters))


def made(name: str) -> object:
    """A module of the sizes of its sample; what is not declared needs none."""
    module = REGISTRY.modules.get(name)
    sizes = {} if module is None else {n: module.file.sample.get(n) for n in module.file.sizes}
    return getattr(tp, name)(**{n: size for n, size in sizes.items() if size is not None})


# --- which dtypes go together ---


def tuples(entry: Entry) -> Iterator[Mapping[str, dtype | None]]:
    """A dtype for each argument that has one; None, too, where nvtripy's default is None."""
    names = sorted(_dtyped(entry))
    choices = [
        (*DTYPES, None) if any(f"{name}=None" in call for call in entry.calls) else DTYPES
        for name in names
    ]
    return (dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*choices))


def _dtyped(entry: Entry) -> set[str]:
    named = free_names(parse(entry.takes)) if entry.takes else ["input"]
    return set(named) - BY_NAME.keys()


def allowed(entry: Entry, types: Mapping[str, dtype | None]) -> bool:
    """Whether nvtripy allows the dtypes."""
    return entry.takes is None or bool(evaluate(parse(entry.takes), {**BY_NAME, **types}, SHAPE))


def given(entry: Entry, types: Mapping[str, dtype | None]) -> list[dtype] | None:
    """The dtypes of nvtripy's results, where it guarantees any."""
    if entry.gives is None:
        return None
    found: list[dtype] = evaluate(parse(entry.gives), {**BY_NAME, **types}, SHAPE)
    return found


def called(entry: Entry, types: Mapping[str, dtype | None]) -> list[dtype] | None:
    """The dtypes of our results for the sample's sizes, or None where the call is refused."""
    assert entry.operator is not None
    assert entry.function is not None
    arguments = _arguments(entry, dict(types))
    first = [arguments.pop(entry.inputs[0])] if entry.is_method else []
    try:
        with at(UnknownLocation()):
            result = entry.function(*first, **arguments)
    except DiagnosticError:
        return None
    several = result if isinstance(result, (list, tuple)) else [result]
    return [tensor.dtype for tensor in several]


def _arguments(entry: Entry, types: dict[str, dtype | None]) -> dict[str, Any]:
    """The sample's arguments under the names of our function, with other dtypes."""
    operator = entry.operator
    assert operator is not None
    bound = _sample(operator)
    if entry.is_method:  # nvtripy says `self` and `other` where we say `lhs` and `rhs`
        renamed = dict(zip(("self", "other"), entry.inputs, strict=False))
        types = {renamed.get(name, name): kind for name, kind in types.items()}
    arguments: dict[str, Any] = dict(bound.attributes)
    for name, operand in bound.operands.items():
        if not operator.inputs[name].optional:
            arguments[name] = _tensors(operand, types.get(name) or operand.types[0])
    for name, kind in types.items():
        if name in operator.attributes:
            arguments[name] = kind
        elif name not in bound.operands:
            assert kind is not None
            arguments[name] = Tensor.of(Value(TensorType(kind, ())))
    return {n: v for n, v in arguments.items() if n in _reachable(entry) and v is not None}


@cache
def _sample(operator: Operator) -> BoundSample:
    return bind(operator, legal_tuples(operator)[0])


def _reachable(entry: Entry) -> set[str]:
    """The names that a call of our function can say; the tensor of a method has its own name."""
    assert entry.function is not None
    overloads = typing.get_overloads(entry.function) or [entry.function]
    names = {name for each in overloads for name in inspect.signature(each).parameters}
    return names | set(entry.inputs[:1] if entry.is_method else ())


def _tensors(operand: SampleOperand, kind: dtype) -> Any:
    if operand.constant:
        return constant_tensor(np.ones(operand.numbers[0][1], kind.numpy))
    made = [Tensor.of(Value(TensorType(kind, shape))) for shape in operand.shapes]
    return made if operand.several else made[0]


def has(home: object, path: str) -> bool:
    """Whether something has an attribute, which may be one of an attribute."""
    for name in path.split("."):
        if not hasattr(home, name):
            return False
        home = getattr(home, name)
    return True
