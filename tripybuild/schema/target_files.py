"""Target entries of the YAML files: `targets:` of an operator, and `targets.yaml`."""

from typing import Literal

from pydantic import Field

from tripybuild.schema.entries import Code, Name, StrictModel
from tripybuild.schema.snippets.expressions import Expression


class RefusalEntry(StrictModel):
    """A case that a target refuses although the declaration allows it."""

    when: Expression
    why: str
    says: str | list[str] = Field(
        default_factory=list, description="A part of the target's own message, or several."
    )
    silent: bool = Field(
        default=False, description="The target builds it, and then computes something else."
    )
    gpus: list[str] = Field(
        default_factory=list, description="The GPUs for which it is so; without, all of them."
    )
    sample: dict[Name, Expression] = Field(
        default_factory=dict, description="What the operator's own sample does not show."
    )


class BuildEntry(StrictModel):
    """A case that a target builds although the declaration refuses it."""

    when: Expression
    why: str
    sample: dict[Name, Expression] = Field(
        default_factory=dict, description="What the operator's own sample does not show."
    )


class TargetEntry(StrictModel):
    """What a target does differently, as named laws.

    An expression alone is the `when` of a reason that `targets.yaml` gives under the same name.
    """

    refuses: dict[Code, RefusalEntry | Expression] = Field(default_factory=dict)
    builds: dict[Code, BuildEntry | Expression] = Field(default_factory=dict)
    static: list[str] = Field(
        default_factory=list,
        description="Sizes of the sample that must be numbers: `C`, all of `K`, or `S[dim]`.",
    )


class StockRefusalEntry(StrictModel):
    """What a target says to many operators, and how far a network comes before it says so."""

    why: str
    says: str | list[str] = Field(description="Parts of the target's own messages.")
    level: Literal["builder", "shape", "build"]
    when: Expression = Field(default=True, description="Over `types`, the dtypes of the call.")
    gpus: list[str] = Field(
        default_factory=list, description="The GPUs for which it is so; without, all of them."
    )


class StockBuildEntry(StrictModel):
    """Why a target may build what declarations refuse.

    With `when`, it holds for every operator, whether or not the target builds the call. The
    `default` one holds where an operator names none and the support table has the engine. The
    others are reasons that operators name.
    """

    why: str
    when: Expression = Field(default=None, description="Over `types`, the dtypes of the call.")
    default: bool = Field(
        default=False, description="The reason for engines of dtypes that no operator explains."
    )


class CommonFactsEntry(StrictModel):
    """What is true of a target, whatever the operator."""

    refuses: dict[Code, StockRefusalEntry] = Field(default_factory=dict)
    builds: dict[Code, StockBuildEntry] = Field(default_factory=dict)
    gpus: list[str] = Field(
        default_factory=list, description="What it builds for, from the oldest on."
    )
    needs: dict[Name, str] = Field(
        default_factory=dict, description="The first of these GPUs that computes with a dtype."
    )
    gate: str | None = Field(default=None, description="What is said where the GPU is older.")


class TargetsFile(StrictModel):
    """Target facts shared by all operators."""

    tripybuild: Literal[1]
    targets: dict[str, CommonFactsEntry]
