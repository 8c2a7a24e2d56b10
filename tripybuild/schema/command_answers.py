"""Answers of the remaining commands in JSON, and the form of their diagnostics.

A key that depends on what was asked for is not required. Invariant: a command whose answer has a
key that is not here fails the test of its schema.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _CommandAnswer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SpanAnswer(_CommandAnswer):
    """A stretch of a file: lines and columns count from one, and the end is exclusive."""

    path: str = Field(description="A file; `<command line>` for what was typed, `-` for stdin.")
    line: int
    column: int
    end_line: int
    end_column: int


class RelatedAnswer(_CommandAnswer):
    """Another place that a problem has to do with."""

    message: str
    span: SpanAnswer


class CallerAnswer(_CommandAnswer):
    """A line of a Python program that led to the place."""

    path: str
    line: int
    function: str
    text: str
    times: int = Field(description="How often in a row, where a function calls itself.")


class DiagnosticAnswer(_CommandAnswer):
    """One problem; `tripybuild explain CODE` says what its code means."""

    code: str = Field(description="Stable: a code, or `operator/law` of the registry.")
    message: str
    span: SpanAnswer | None
    label: str = Field(description="What stands under the carets.")
    notes: list[str]
    hint: str | None
    related: list[RelatedAnswer]
    callers: list[CallerAnswer]


class DiagnosticsAnswer(_CommandAnswer):
    """What each command answers where it fails."""


class ChoiceAnswer(_CommandAnswer):
    """The engine that a target chose, and why."""

    chosen_by: str
    because: str
    measured: dict[str, float] | None = Field(None, description="Milliseconds of a call.")
    refused: dict[str, str] | None = Field(None, description="What the others said.")


class EmitAnswer(_CommandAnswer):
    """A text on the way, as data or in a file."""

    emit: str | None = Field(None, description="The form that `--emit` asked for.")
    text: str | None = None
    path: str | None = Field(None, description="The file that was written.")


class CacheDifferenceAnswer(_CommandAnswer):
    """What is not as it was for the nearest entry."""

    what: str
    now: str | None
    then: str | None


class LookupAnswer(_CommandAnswer):
    """What the cache was asked for, and what came of it."""

    kind: str
    key: str
    subject: str = Field(description="What was needed, and for which spec.")
    outcome: Literal["hit", "fetched", "miss"]
    reason: str
    nearest: str | None = Field(description="The key of the entry that a miss is compared with.")
    differences: list[CacheDifferenceAnswer]


class CompileAnswer(EmitAnswer):
    """The answer of `tripybuild compile --json`: an executable, or with `--emit` a text."""

    target: str | None = None
    bytes: int | None = Field(None, description="The executable's size.")
    seconds: float | None = None
    engine: ChoiceAnswer | None = None
    cache: list[LookupAnswer] | None = Field(None, description="With `--explain-cache`.")


class CacheRemoteAnswer(_CommandAnswer):
    """The cache that machines share."""

    address: str = Field(description="Without users, passwords and tokens.")
    mode: Literal["read", "read-write"]
    problem: str | None = Field(description="Why it does not answer; null where it does.")


class CacheEntryAnswer(_CommandAnswer):
    """An entry of the cache."""

    key: str
    kind: str = Field(description="Such as `XLA program`; `unknown` without a record.")
    path: str
    bytes: int
    used: float = Field(description="Seconds since 1970, by this machine's clock.")
    created: float | None = Field(description="The same, by the clock of the machine that made it.")
    seconds: float | None = Field(description="How long it took to make.")
    origin: dict[str, str] = Field(description="What it was made for first.")
    parts: dict[str, str] = Field(description="The parts of its key; long ones by their digest.")


class CacheAnswer(_CommandAnswer):
    """The answer of each `tripybuild cache ... --json`: the folder, and what the command is for."""

    folder: str
    bytes: int = Field(description="Of all entries.")
    count: int = Field(description="Of all entries.")
    limit: int | None = Field(None, description="Bytes above which those used last recently go.")
    remote: CacheRemoteAnswer | None = None
    entries: list[CacheEntryAnswer] | None = Field(None, description="Those that were asked for.")
    damaged: list[str] | None = Field(None, description="Keys of those that were put aside.")
    removed: list[str] | None = Field(None, description="Keys of those that are gone.")
    path: str | None = Field(None, description="The file that was written or read.")
    added: list[str] | None = Field(None, description="Keys of those that are new here.")


class TraceAnswer(EmitAnswer):
    """The answer of `tripybuild trace --json`."""


class ArrayAnswer(_CommandAnswer):
    """An array, and the first of its values."""

    dtype: str
    shape: list[int]
    first: list[Any]


class OutputsAnswer(_CommandAnswer):
    """The answer of `tripybuild run --json`."""

    outputs: dict[str, ArrayAnswer]
    seconds: float = Field(description="Of the call; what it had to compile is included.")
    path: str | None = Field(None, description="The file with the outputs.")
    state: str | None = Field(None, description="The file with the state.")


class TokensAnswer(_CommandAnswer):
    """The answer of `tripybuild generate --json`."""

    sequences: list[list[int]]
    texts: list[str] | None = Field(description="With `--tokenizer`.")
    prompt_seconds: float
    tokens_per_second: float | None
    path: str | None = Field(None, description="The file with the tokens.")


class InspectAnswer(_CommandAnswer):
    """The answer of `tripybuild inspect --json`: the manifest, of which targets have own parts."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    path: str
    kind: str
    model: str
    target: str
    versions: dict[str, str]
    entries: list[dict[str, Any]]
    members: dict[str, int] = Field(description="The bytes of each member.")


class SignAnswer(_CommandAnswer):
    """The answer of `tripybuild sign --json`."""

    path: str = Field(description="The signature.")


class VerifyAnswer(_CommandAnswer):
    """The answer of `tripybuild verify --json`; where it does not hold, there are diagnostics."""

    path: str
    signature: str
    verified: Literal[True]


class ExplainAnswer(_CommandAnswer):
    """The answer of `tripybuild explain --json`; its `kind` says which keys it has."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    kind: str = Field(description="`operator`, `module`, `law`, `part`, `code`, and others.")


class ExportAnswer(_CommandAnswer):
    """The answer of `tripybuild export --json`."""

    models: dict[str, str] = Field(description="The file of each entry.")
    data: str | None = Field(description="The file of weights that stands beside.")
    weights: list[str] = Field(description="The files in which weights stay.")
    opset: int
    bytes: dict[str, int]
    seconds: float


class ImportAnswer(_CommandAnswer):
    """The answer of `tripybuild import --json`."""

    paths: list[str]
    notes: list[str]
    seconds: float
    differences: dict[str, float] | None = Field(
        None, description="By output, as a part of its largest value."
    )


class TrialAnswer(_CommandAnswer):
    """A target that was tried."""

    works: bool
    seconds: float
    facts: dict[str, Any]
    problems: list[dict[str, Any]]


class DoctorAnswer(_CommandAnswer):
    """The answer of `tripybuild doctor --json`."""

    tripybuild: str
    python: str
    platform: str
    targets: dict[str, TrialAnswer]
    engines: TrialAnswer


class FileDifferenceAnswer(_CommandAnswer):
    """A generated file that was, or is, not what the declarations say."""

    path: str
    kind: Literal["missing", "different", "stale"]


class GenAnswer(_CommandAnswer):
    """The answer of `tripybuild gen --json`."""

    files: int
    differences: list[FileDifferenceAnswer]
    unformatted: list[str] | None = Field(None, description="With `--check`.")


class FmtAnswer(_CommandAnswer):
    """The answer of `tripybuild fmt --json`."""

    files: int
    changed: list[str]
    text: str | None = Field(None, description="Of what stdin gave.")


class NewAnswer(_CommandAnswer):
    """The answer of `tripybuild new op --json` and `tripybuild new model --json`."""

    path: str


class OptAnswer(_CommandAnswer):
    """The answer of `tripybuild opt --json`: text, or with `--list` passes."""

    text: str | None = None
    path: str | None = Field(None, description="The file that was written.")
    reports: list[str] | None = None
    passes: dict[str, dict[str, Any]] | None = None


COMMAND_ANSWERS: dict[str, type[BaseModel]] = {
    "cache": CacheAnswer,
    "compile": CompileAnswer,
    "diagnostics": DiagnosticsAnswer,
    "doctor": DoctorAnswer,
    "explain": ExplainAnswer,
    "export": ExportAnswer,
    "fmt": FmtAnswer,
    "gen": GenAnswer,
    "generate": TokensAnswer,
    "import": ImportAnswer,
    "inspect": InspectAnswer,
    "new": NewAnswer,
    "opt": OptAnswer,
    "run": OutputsAnswer,
    "sign": SignAnswer,
    "trace": TraceAnswer,
    "verify": VerifyAnswer,
}
