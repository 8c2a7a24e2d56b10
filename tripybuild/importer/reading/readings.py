"""Readings: a call of another system's operator as a call of ours, or as a composition of those.

Invariant: nothing is guessed. What is read, said forwards again, is what was given; a parameter
of which an alias or a composition does not speak has its default, or is one that says nothing; and
what depends on elements or sizes that are not known is refused, with the reason.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError, concise
from tripybuild.importer.call_program import CallValue
from tripybuild.importer.reading.own_call import OwnCall
from tripybuild.importer.reading.values import (
    EXPRESSIONS,
    UnknownDataError,
    is_tensor,
    plain,
    same,
    unwrap,
    wrap,
)
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.names import free_names
from tripybuild.schema.compositions import RESULT, RESULTS, Composition, ForeignSystem
from tripybuild.schema.foreign import ForeignSignature, signatures
from tripybuild.schema.load import Registry
from tripybuild.schema.operator.operator import Alias, Attribute, Input, Operator, Snippet
from tripybuild.schema.registry_index import SpokenCall, operator_entries
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import ValuePattern, options, tensors
from tripybuild.types.vocabulary import CONSTANTS

Arguments = Mapping[str, Any]
ResultTypes = Sequence[TensorType | None]
MOST_SHOWN = 60  # characters of a value in a reason


@dataclass(frozen=True, slots=True)
class CallReading:
    """A call of one operator of ours.

    Args:
        operator: The operator.
        arguments: Its arguments by name, without those that are None.
        result: Which of the other's results it gives; None for all of them.
        alias: What says so.
    """

    operator: Operator
    arguments: Arguments
    result: int | None
    alias: Alias


@dataclass(frozen=True, slots=True)
class CompositionReading:
    """A snippet over what a call was given.

    Args:
        snippet: The snippet of `foreign/SYSTEM.yaml`.
        names: The parameters by name, with `result` and `results` where the source states types.
    """

    snippet: Snippet
    names: Mapping[str, Any]


Reading = CallReading | CompositionReading


@dataclass(frozen=True, slots=True)
class UnreadCall:
    """Why nothing says a call: a reason for each alias and composition, none where none exists."""

    reasons: tuple[str, ...] = ()


class UnreadableError(Exception):
    """Why an alias or a composition does not say a call."""


class Readings:
    """What a registry says of the operators of another system.

    Args:
        registry: The operators and compositions.
        system: `aten` or `onnx`.
        opset: That of ONNX's operators; by default the newest.
    """

    def __init__(self, registry: Registry, system: str, opset: int | None = None) -> None:
        self.system, self.opset = system, opset
        self.foreign = registry.foreign.get(system, ForeignSystem())
        self.operators = registry.operators
        self._speakers: dict[str, list[str]] = {}
        for name, entry in operator_entries(registry.operators).items():
            spoken = (each for each in entry.calls if each.system == system)
            for called in dict.fromkeys(each.name for each in spoken if each.holds_in(opset)):
                self._speakers.setdefault(called, []).append(name)

    def _aliases(self, called: str) -> Iterator[tuple[Operator, Alias]]:
        """What speaks of an operator."""
        for name in self._speakers.get(called, ()):
            for alias in self.operators[name].foreign:
                spoken = SpokenCall.of(alias)
                if spoken[:2] == (self.system, called) and spoken.holds_in(self.opset):
                    yield self.operators[name], alias

    @cached_property
    def names(self) -> frozenset[str]:
        """The operators that an alias or a composition speaks of."""
        composed = (
            name
            for name, each in self.foreign.operators.items()
            if any(composition.holds_in(self.opset) for composition in each)
        )
        return frozenset({*self._speakers, *composed})

    def read(
        self, operator: str, arguments: Arguments, results: ResultTypes = ()
    ) -> Reading | UnreadCall:
        """What a call is here.

        Args:
            operator: Its name, with the overload.
            arguments: By parameter; what is left out has its default. Tensors are `CallValue`.
            results: The types that the source states.
        """
        reasons = []
        for each in self.candidates(operator, arguments, results):
            if not isinstance(each, str):
                return each
            reasons.append(each)
        return UnreadCall(tuple(reasons))

    def candidates(
        self, operator: str, arguments: Arguments, results: ResultTypes = ()
    ) -> Iterator[Reading | str]:
        """Each reading of a call, and each reason why there is none: aliases come first."""
        signature = signatures(self.system, self.opset).get(operator)
        defaults = signature.defaults if signature is not None else {}
        given = {**defaults, **arguments}
        for own, alias in self._aliases(operator):
            try:
                index = alias.result or 0
                stated = results[index] if index < len(results) else None
                found = read_call(own, alias, given, stated, defaults, self.foreign.ignores)
                yield CallReading(own, found, alias.result, alias)
            except UnreadableError as error:
                yield f"`{own.name}` as `{alias.text}`: {error}"
        for composition in self.foreign.operators.get(operator, ()):
            if composition.holds_in(self.opset):
                try:
                    yield self._read_composition(composition, given, defaults, results)
                except UnreadableError as error:
                    yield f"composition: {error}"

    def _read_composition(
        self,
        composition: Composition,
        given: Arguments,
        defaults: Mapping[str, Any],
        results: ResultTypes,
    ) -> CompositionReading:
        snippets = [composition.snippet, *([composition.when] if composition.when else [])]
        read = {name for each in snippets for name in free_names(each.program)}
        spoken = {each for each, name in composition.names.items() if name in read}
        ignored = {*composition.ignores, *self.foreign.ignores}
        _check_parameters(composition.signature, spoken | ignored, given, defaults)
        whole = _whole(composition.signature, given, defaults)
        names = {composition.names[parameter]: value for parameter, value in whole.items()}
        if RESULT in read and (not results or results[0] is None):
            raise UnreadableError("the source states no type of its result")
        if {RESULT, RESULTS} & read:
            names |= {RESULT: results[0] if results else None, RESULTS: list(results) or [None]}
        if composition.when is not None:
            with_tensors = {name: wrap(value) for name, value in names.items()}
            if not _holds(composition.when, with_tensors):
                raise UnreadableError(f"`{composition.when.last_line}` does not hold")
        return CompositionReading(composition.snippet, names)


def _check_parameters(
    signature: ForeignSignature,
    spoken: set[str],
    given: Arguments,
    defaults: Arguments,
) -> None:
    """Every argument is one that is spoken of, or says nothing."""
    older = {**signature.defaults, **defaults}
    for parameter, value in given.items():
        if parameter not in spoken and not _is_default(value, older.get(parameter)):
            raise UnreadableError(f"it has `{parameter}={_value_text(value)}`")


def _is_default(value: Any, default: Any) -> bool:
    """Whether an argument says what leaving it out does."""
    return same(value, default) is True


def _whole(
    signature: ForeignSignature, given: Arguments, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """All arguments; what an older version of an operator lacks is as the newest has it.

    One that has no default and is not there is None, as `bias` of a convolution that has none.
    """
    older = {**signature.defaults, **defaults}
    return {name: given.get(name, older.get(name)) for name in signature.parameters}


def read_call(
    operator: Operator,
    alias: Alias,
    given: Arguments,
    stated: TensorType | None = None,
    defaults: Arguments = MappingProxyType({}),
    ignores: AbstractSet[str] = frozenset(),
) -> dict[str, Any]:
    """Our arguments that say what another system's call says.

    Args:
        operator: Our operator.
        alias: What it is called elsewhere.
        given: The arguments of the other's call; what is left out has its default.
        stated: The type of the result, as the source states it.
        defaults: Those of an older version of the other operator.
        ignores: Parameters that say nothing in any call.

    Raises:
        UnreadableError: Where the alias cannot say the call.
    """
    _check_parameters(
        alias.signature, {*alias.arguments, *alias.ignores, *ignores}, given, defaults
    )
    whole = _whole(alias.signature, given, defaults)
    try:
        return _read_alias(operator, alias, whole, stated)
    except DiagnosticError as error:
        raise UnreadableError(concise(error.diagnostics[0])) from error
    except (EvaluationError, UndecidedSize, UnknownDataError) as error:
        raise UnreadableError(str(error)) from error


def is_read(alias: Alias, given: Arguments) -> bool:
    """Whether `reads_when` of an alias holds for the arguments of the other's call."""
    if alias.reads_when is None:
        return True
    return _holds(alias.reads_when, {name: wrap(each) for name, each in given.items()})


def _read_alias(
    operator: Operator, alias: Alias, given: Arguments, stated: TensorType | None
) -> dict[str, Any]:
    if alias.reads_when is not None and not is_read(alias, given):
        raise UnreadableError(f"`{alias.reads_when.text}` does not hold")
    own = _own_arguments(operator, alias, given, stated)
    _check_ranks(operator, own)
    said = OwnCall.of(operator, own)
    if not said.applies(alias):
        assert alias.when is not None
        raise UnreadableError(f"`{alias.when.text}` does not hold")
    _check_forwards(alias, given, said.arguments(alias), stated)
    return own


def _holds(snippet: Snippet, names: Mapping[str, Any]) -> bool:
    """Whether a condition holds, which can be what a tensor holds."""
    try:
        return bool(_evaluate(snippet, names))
    except (UndecidedSize, UnknownDataError) as error:
        raise UnreadableError(str(error)) from error


def _check_ranks(operator: Operator, own: Arguments) -> None:
    """Each tensor has a rank that its input declares; only then are the sizes of shapes bound."""
    for name, value in own.items():
        if name in operator.inputs and isinstance(value, CallValue):
            shapes = list(tensors(operator.inputs[name].pattern))
            if shapes and all(each.match(value.shape) is None for each in shapes):
                raise UnreadableError(f"`{name}` is {_value_text(value)} of rank {value.rank}")


def _evaluate(snippet: Snippet, names: Mapping[str, Any]) -> Any:
    try:
        known = {**BY_NAME, **CONSTANTS, **names}
        return evaluate(snippet.program, known, EXPRESSIONS, passes=(UnknownDataError,))
    except (EvaluationError, UndecidedSize, UnknownDataError) as error:
        raise UnreadableError(str(error)) from error


def _own_arguments(
    operator: Operator, alias: Alias, given: Arguments, stated: TensorType | None
) -> dict[str, Any]:
    """Our arguments. None stands for a default of None only."""
    own = {argument.name: argument for argument in operator.arguments()}
    back = {mine: given[theirs] for theirs, mine in alias.plain.items() if mine in own}
    wrapped = {name: wrap(value) for name, value in given.items()}
    back |= {name: unwrap(_evaluate(s, wrapped)) for name, s in alias.reads.items()}
    found = {}
    for name, value in back.items():
        argument = own[name]
        if value is None and isinstance(argument, Attribute) and argument.variable and stated:
            found[name] = stated.dtype
        elif value is None:
            if not _may_be_none(argument):
                raise UnreadableError(f"`{name}` cannot be None")
        else:
            found[name] = _argument_value(argument, value)
    return found


def _argument_value(argument: Input | Attribute, value: Any) -> Any:
    """A value as the argument takes it; ONNX writes truth as a number."""
    if isinstance(argument, Input) and is_tensor(value):
        return value
    value = plain(value)
    chosen = options(argument.pattern)
    truth = all(isinstance(each, ValuePattern) and each.kind == "bool" for each in chosen)
    return bool(value) if truth and isinstance(value, int) and value in {0, 1} else value


def _may_be_none(argument: Input | Attribute) -> bool:
    if isinstance(argument, Input):
        return argument.optional
    default = argument.default.result if argument.default is not None else None
    return isinstance(default, ast.Constant) and default.value is None


def _check_forwards(
    alias: Alias, given: Arguments, said: Mapping[str, Any], stated: TensorType | None
) -> None:
    """What is said forwards is what was given, but for what several values say."""
    for parameter, value in said.items():
        if parameter in {*alias.plain, *alias.ignores, *alias.ambiguous}:
            continue
        there = given[parameter]
        if isinstance(value, dtype) and there is None and stated and value == stated.dtype:
            continue
        truth = same(value, there)
        if truth is not True:
            unsure = " for all sizes" if truth is not False else ""
            reason = f"`{parameter}` is {_value_text(there)}, and not {_value_text(value)}{unsure}"
            raise UnreadableError(reason)


def _value_text(value: Any) -> str:
    if isinstance(value, CallValue):
        return f"`{value.name}`" if value.name else f"a {value.type}"
    if isinstance(value, (list, tuple)):
        text = f"[{', '.join(map(_value_text, value))}]"
    else:
        text = str(value) if isinstance(value, dtype) else repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."
