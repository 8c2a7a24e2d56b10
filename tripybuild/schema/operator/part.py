"""Parsed part of a model: a definition, a module, or the model itself."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from tripybuild.documents.document import Document
from tripybuild.schema.operator.operator import Location, Requirement, Snippet
from tripybuild.types.patterns import Pattern, ValuePattern


@dataclass(frozen=True, slots=True, eq=False)
class PartParameter:
    """A size that a part is made with. None stands for the default of one that is `optional`.

    One that is not `declared` has a name and perhaps a default, and may be anything.
    """

    name: str
    pattern: Pattern
    default: Snippet | None = None
    doc: str = ""
    optional: bool = False
    declared: bool = True

    @property
    def takes_none(self) -> bool:
        """Whether None is one of its values: where it is `optional`, or None by default."""
        default = self.default and self.default.program.result
        return self.optional or (isinstance(default, ast.Constant) and default.value is None)

    @property
    def variable(self) -> str | None:
        """The type variable that it gives a dtype: `F` of `dtype[F]`."""
        match self.pattern:
            case ValuePattern("dtype", ast.Name(id=name)):
                return name
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Weight:
    """A weight of a part; `when` is None where it is always there.

    What is given to a Python class may have one of `ranks` instead, which the steps of the module
    judge; and where `optional`, one that is not there may be given all the same.
    """

    name: str
    pattern: Pattern
    location: Location
    when: Snippet | None = None
    ranks: tuple[int, ...] = ()
    optional: Snippet | None = None


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A tensor that is kept from call to call.

    `first` is the number that fills it before the first call, where the file says one.
    """

    name: str
    pattern: Pattern
    location: Location
    first: Snippet | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """`q, k, v: split(x, 3, 2)`: names, and the expression that gives them."""

    targets: tuple[str, ...]
    value: Snippet
    reads: frozenset[str]

    @property
    def name(self) -> str:
        """The step as it is called in messages and locations."""
        return ", ".join(self.targets)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part: what it is made with, what it takes, what it holds, what it does."""

    name: str
    document: Document
    doc: str
    parameters: tuple[PartParameter, ...]
    types: Mapping[str, str]
    inputs: Mapping[str, Pattern]
    parts: Mapping[str, Snippet]
    constants: tuple[Step, ...]
    weights: Mapping[str, Weight]
    state: Mapping[str, State]
    steps: tuple[Step, ...]
    next: tuple[Step, ...]
    outputs: tuple[Step, ...]
    location: Location = ()
    optional: frozenset[str] = frozenset()
    """The inputs that may be left out; the steps read None then."""
    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The dtypes that a type variable can have, where not all that its operators take."""
    laws: Mapping[str, Requirement] = field(default_factory=dict)
    """What must hold of the sizes."""
    prepared: tuple[Step, ...] = ()
    """What is computed from weights when an executable is built."""
