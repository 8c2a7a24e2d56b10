"""Pydantic models of `tripybuild.yaml`: a workspace, its specs, and what is built of them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from tripybuild.schema.entries import Doc, Name, StrictModel

# What workspaces, builds, specs and sets of sizes are called; file names and options have them.
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
NameList = Annotated[list[str], Field(min_length=1)]
Dtype = Literal["float32", "float16", "bfloat16"]


class SizeSetEntry(StrictModel):
    """Sizes that a name stands for."""

    doc: Doc | None = None
    set: dict[str, Any] = Field(default_factory=dict)
    shapes: list[dict[Name, int]] = Field(default_factory=list)
    buckets: dict[Name, list[int] | Literal["powers"]] = Field(default_factory=dict)


class ExclusionEntry(StrictModel):
    """Combinations that are left out: those that have all that is said."""

    spec: str | None = None
    sizes: str | None = None
    dtype: str | None = None
    target: str | None = None


class WorkspaceBuildEntry(StrictModel):
    """Executables: each spec in each set of sizes, each dtype and for each target."""

    doc: Doc | None = None
    needs: list[str] = Field(default_factory=list)
    specs: NameList = Field(default_factory=lambda: ["*"])
    sizes: NameList | None = None
    dtypes: Annotated[list[Dtype], Field(min_length=1)] | None = None
    targets: NameList | None = None
    exclude: list[ExclusionEntry] = Field(default_factory=list)
    output: str | None = None
    weights: str | None = None
    config: str | None = None
    registry: list[str] = Field(default_factory=list)
    memory: Annotated[int, Field(ge=1)] | None = None
    requires: list[str] = Field(default_factory=list)
    timeout: Annotated[float, Field(gt=0)] | None = None


class SpecTestsEntry(StrictModel):
    """Tests: the `test:` section of each spec in each dtype and on each target."""

    doc: Doc | None = None
    specs: NameList = Field(default_factory=lambda: ["*"])
    dtypes: Annotated[list[Dtype], Field(min_length=1)] | None = None
    targets: NameList | None = None


class WorkspaceFile(StrictModel):
    """What a team builds and tests."""

    tripybuild: Literal[1]
    workspace: Label
    doc: Doc | None = None
    outputs: str = "build"
    specs: NameList | dict[Label, str]
    sizes: dict[Label, SizeSetEntry] = Field(default_factory=dict)
    builds: dict[Label, WorkspaceBuildEntry]
    tests: dict[Label, SpecTestsEntry] | None = None
