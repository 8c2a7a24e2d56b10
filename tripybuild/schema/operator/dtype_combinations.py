"""Dtype combinations: enumeration of allowed tuples, and what rejects the others.

A slot is a type variable, or an input whose dtype no variable binds (`bool[*A]`); a tuple gives
each slot a dtype.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from tripybuild.errors.budget import BudgetError, spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import budget_diagnostic
from tripybuild.language.names import free_names, placeholder_names
from tripybuild.schema.operator.operator import KEPT, Input, Operator, Requirement
from tripybuild.schema.operator.samples import evaluate_snippet, is_sample_value
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import tensors

Tuple = Mapping[str, dtype]

# Beyond this many tuples, the illegal ones are those that differ from a legal one in one slot.
MANY = 4_000
# What `any` stands for; the dtype that every engine has is the first of a suite's.
ANY = tuple(dict.fromkeys(("float32", *BY_NAME)))
# With so many slots, each tuple has a pair of dtypes that no other one has.
PAIR = 2


@dataclass(frozen=True, slots=True)
class DtypeSlot:
    """One choice of a dtype.

    `elements` name dtypes and variables; `codes` are what a wrong choice is called.
    """

    name: str
    elements: tuple[str, ...]
    codes: frozenset[str]
    inputs: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    def allows(self, types: Tuple) -> bool:
        """Whether the slot's own choice is among its elements."""
        return types[self.name] in {BY_NAME[e] if e in BY_NAME else types[e] for e in self.elements}


@lru_cache(maxsize=KEPT)
def slots(operator: Operator) -> tuple[DtypeSlot, ...]:
    """The slots that a call fills: variables first, then inputs with dtypes of their own."""
    found = [slot for name in operator.types if (slot := _variable(operator, name)).codes]
    for input in tensor_inputs(operator):
        elements = tuple(dict.fromkeys(t.element for t in tensors(input.pattern)))
        given = operator.sample.get(operator.dtype_list(input) or "")
        if given is not None and "any" not in free_names(given.program):
            continue  # the sample says the dtype of each tensor
        if (elements and elements[0] not in operator.types) or len(elements) > 1:
            anything = "any" in elements or operator.dtype_list(input) is not None
            wide = ANY if anything else elements
            found.append(DtypeSlot(input.name, wide, frozenset({input.name}), (input.name,)))
    return tuple(found)


def tensor_inputs(operator: Operator) -> list[Input]:
    """The inputs that the sample gives as tensors."""
    return [i for i in operator.inputs.values() if not is_sample_value(operator, i)]


def _variable(operator: Operator, name: str) -> DtypeSlot:
    inputs = tuple(
        input.name
        for input in tensor_inputs(operator)
        if [t.element for t in tensors(input.pattern)] == [name]
    )
    attributes = tuple(a.name for a in operator.attributes.values() if a.variable == name)
    codes = {*([name] if inputs else []), *attributes}
    elements = tuple(str(each) for each in operator.types[name])
    return DtypeSlot(name, elements, frozenset(codes), inputs, attributes)


@lru_cache(maxsize=KEPT)
def dtype_laws(operator: Operator) -> tuple[Requirement, ...]:
    """The laws that mention nothing but type variables, in what they say and in their messages."""
    known = {*operator.types, *BY_NAME}
    return tuple(
        law
        for law in operator.laws.values()
        if known.issuperset([*free_names(law.that.program), *placeholder_names(law.message or "")])
    )


@lru_cache(maxsize=KEPT)
def legal_tuples(operator: Operator) -> tuple[Tuple, ...]:
    """Every tuple that the slots and the laws about dtypes allow, in the declared order."""
    ways = slots(operator)
    tuples = (
        {slot.name: BY_NAME[name] for slot, name in zip(ways, names, strict=True)}
        for names in product(*[_spread(slot, operator) for slot in ways])
    )
    return tuple(types for types in tuples if not refusal_codes(operator, types))


def is_host_only(types: Tuple) -> bool:
    """Whether a tuple has a dtype that only engines of the CPU compute with."""
    return any(each.host_only for each in types.values())


def engine_tuples(operator: Operator) -> list[Tuple]:
    """The legal tuples of dtypes that every target has."""
    return [types for types in legal_tuples(operator) if not is_host_only(types)]


def is_pairwise(operator: Operator) -> bool:
    """Whether tests use a pairwise sample of the legal tuples by default.

    A decomposition is proved for all of them when its package is generated, and its steps are
    operators whose own suites ask them.
    """
    return operator.decompose is not None and len(slots(operator)) > PAIR


def is_proved(operator: Operator) -> bool:
    """Whether a decomposition and a reference say the same in two ways, which are compared."""
    return operator.decompose is not None and bool(operator.reference) and not operator.inline


def check_tuples(operator: Operator) -> Iterator[Diagnostic]:
    """All tuples of dtypes are listed, here and in the suite, so there may not be too many."""
    try:
        spend("tuples", prod(len(_spread(slot, operator)) for slot in slots(operator)))
    except BudgetError as error:
        yield budget_diagnostic(error, operator.document.span(("types",)))
        return
    if dtype_laws(operator):
        try:
            legal_tuples(operator)  # which spends what the laws take of each
        except DiagnosticError as error:
            yield from error.diagnostics


def _spread(slot: DtypeSlot, operator: Operator) -> tuple[str, ...]:
    """The dtypes that a slot can have: its elements, with variables replaced by their sets."""
    each = (str(t) for e in slot.elements for t in operator.types.get(e, (e,)))
    return tuple(dict.fromkeys(each))


def refusal_codes(operator: Operator, types: Tuple) -> frozenset[str]:
    """What a tuple can be refused with: parts of the declaration; none where it is legal."""
    wrong = [slot for slot in slots(operator) if not slot.allows(types)]
    if wrong:
        return frozenset(code for slot in wrong for code in slot.codes)
    names = {**BY_NAME, **types}
    broken = [law.name for law in dtype_laws(operator) if not evaluate_snippet(law.that, names)]
    return frozenset(broken[:1])


def illegal_tuples(operator: Operator) -> Iterator[tuple[Tuple, frozenset[str]]]:
    """Every tuple that the declaration refuses, with the codes that it can be refused with."""
    ways = slots(operator)
    names = [slot.name for slot in ways]
    if len(BY_NAME) ** len(ways) <= MANY:
        everything = (
            dict(zip(names, c, strict=True)) for c in product(BY_NAME.values(), repeat=len(ways))
        )
    else:
        everything = (
            dict(t, **{n: d})
            for t in legal_tuples(operator)
            for n in names
            for d in BY_NAME.values()
        )
    for types in everything:
        codes = refusal_codes(operator, types)
        if codes:
            yield types, codes


@lru_cache(maxsize=KEPT)
def _but_for(operator: Operator, names: frozenset[str]) -> frozenset[tuple[dtype, ...]]:
    return frozenset(_without(types, names) for types in legal_tuples(operator))


def _without(types: Tuple, names: frozenset[str]) -> tuple[dtype, ...]:
    return tuple(each for name, each in types.items() if name not in names)


def is_legal_without(operator: Operator, types: Tuple, names: frozenset[str]) -> bool:
    """Whether a tuple would be legal with other dtypes for the slots of some names."""
    own = {slot.name: types[slot.name] for slot in slots(operator)}
    return _without(own, names) in _but_for(operator, names)


def mismatched_tuples(operator: Operator) -> Iterator[tuple[Tuple, frozenset[str]]]:
    """Tuples in which tensors that share a variable have different dtypes, with their codes.

    Such a tuple gives the input that differs a dtype of its own, by its name.
    """
    first = next(iter(legal_tuples(operator)), None)
    for slot in slots(operator) if first else ():
        shared = len(slot.inputs) + len(slot.attributes) > 1
        if not shared or slot.name not in operator.types:
            continue
        assert first is not None
        others = [t for t in operator.types[slot.name] if t is not first[slot.name]]
        for name in slot.inputs if others else ():
            yield {**first, name: others[0]}, slot.codes


def format_tuple(types: Tuple) -> str:
    """A tuple as a test's name: `float32`, `float32-int8`."""
    return "-".join(str(each) for each in types.values()) or "any"
