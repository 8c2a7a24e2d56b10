"""Target entries of the YAML files: `targets:` of an operator, and `targets.yaml`."""

from typing import Literal

from pydantic import Field

from tripybuild.schema.entries import Code, Name, StrictModel
from tripybuild.schema.snippets.expressions import Expression


class RefusalEntry(StrictModel):
    """A case that a target refuses although the declaration allows it."""

    when: Expression
    why: str
    says: str | list[str] = Field(default_factory=list)
    silent: bool = False
    gpus: list[str] = Field(default_factory=list)
    sample: dict[Name, Expression] = Field(default_factory=dict)


class BuildEntry(StrictModel):
    """A case that a target builds although the declaration refuses it."""

    when: Expression
    why: str
    sample: dict[Name, Expression] = Field(default_factory=dict)


class TargetEntry(StrictModel):
    """What a target does differently, as named laws.

    An expression alone is the `when` of a reason that `targets.yaml` gives under the same name.
    """

    refuses: dict[Code, RefusalEntry | Expression] = Field(default_factory=dict)
    builds: dict[Code, BuildEntry | Expression] = Field(default_factory=dict)
    static: list[str] = Field(default_factory=list)


class StockRefusalEntry(StrictModel):
    """What a target says to many operators, and how far a network comes before it says so."""

    why: str
    says: str | list[str]
    level: Literal["builder", "shape", "build"]
    when: Expression = True
    gpus: list[str] = Field(default_factory=list)


class StockBuildEntry(StrictModel):
    """Why a target may build what declarations refuse.

    With `when`, it holds for every operator, whether or not the target builds the call. The
    `default` one holds where an operator names none and the support table has the engine. The
    others are reasons that operators name.
    """

    why: str
    when: Expression = None
    default: bool = False


class CommonFactsEntry(StrictModel):
    """What is true of a target, whatever the operator."""

    refuses: dict[Code, StockRefusalEntry] = Field(default_factory=dict)
    builds: dict[Code, StockBuildEntry] = Field(default_factory=dict)
    gpus: list[str] = Field(default_factory=list)
    needs: dict[Name, str] = Field(default_factory=dict)
    gate: str | None = None


class TargetsFile(StrictModel):
    """Target facts shared by all operators."""

    tripybuild: Literal[1]
    targets: dict[str, CommonFactsEntry]
