"""Answers in JSON of the commands that do the jobs of a workspace."""

from pydantic import BaseModel, ConfigDict, Field


class _JobAnswer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class CaseAnswer(_JobAnswer):
    """A call of a test, compared with the references."""

    entry: str
    sizes: dict[str, int]
    agrees: bool
    difference: float | None = Field(description="As a part of the root mean square.")
    tolerance: float
    outputs: list[str] = Field(description="Those that differ.")
    seconds: float


class JobAnswer(_JobAnswer):
    """A job of a workspace."""

    name: str = Field(description="Unique in the workspace: its output without the suffix.")
    build: str = Field(description="The build, or the entry of `tests:`.")
    spec: str = Field(description="The spec's file, below the workspace's folder.")
    sizes: str | None = Field(description="The set of sizes.")
    dtype: str | None
    target: str
    output: str = Field(description="The executable, below the workspace's folder.")
    key: str = Field(description="The digest of all that the output depends on.")
    reasons: list[str] = Field(description="Why it has to be done; none where it is done.")
    outcome: str = Field(
        description="`current`; `stale` with `--dry-run`; `done`, `failed`, `crashed`, `canceled`."
    )
    seconds: float
    memory: int = Field(description="The bytes that it was expected to take.")
    peak: int = Field(description="The bytes that it took, or 0.")
    bytes: int = Field(description="The size of the output.")
    digest: str = Field(description="That of the output.")
    cases: list[CaseAnswer] = Field(description="The calls of a test.")
    skipped: str = Field(description="Why a test could not be run here.")


class BuildAnswer(_JobAnswer):
    """The answer of `tripybuild build --json`."""

    jobs: list[JobAnswer]
    seconds: float


class TestAnswer(BuildAnswer):
    """The answer of `tripybuild test --json`."""

    __test__ = False  # no test of pytest's, whatever its name


JOB_ANSWERS: dict[str, type[BaseModel]] = {"build": BuildAnswer, "test": TestAnswer}
