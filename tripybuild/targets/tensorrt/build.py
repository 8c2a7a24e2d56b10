"""TensorRT engines: a graph is emitted as a dialect module and built in the worker process.

Engines are content-addressed over the module, the weights, the GPUs they are for, the library and
our own version. Weights never go through text: the child maps the file that they lie in.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import Content
from tripybuild.cache.files import CachedFile, PlanCache
from tripybuild.cache.keys import key
from tripybuild.cache.records import entry_origin
from tripybuild.cache.store import Cache
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.targets.compiled_model import CompiledModel
from tripybuild.targets.executable_file import entry_member
from tripybuild.targets.protocol import installed_version
from tripybuild.targets.tensorrt.weights import EngineWeights, WeightFiles
from tripybuild.tensorrt.runtime import gpu
from tripybuild.version import VERSION
from tripybuild.worker import compiler_process

if TYPE_CHECKING:
    from tripybuild.targets.tensorrt.target import EngineTarget

MODULE, PLAN, RECORD = "tensorrt/module.mlir", "tensorrt/engine.plan", "tensorrt/record.json"
TEXT, PACKED = "text", "packed"


@dataclass(frozen=True)
class EngineSource:
    """What an engine is built from.

    Args:
        content: The module: its text, or what `mlir.packing` made of it, as `form` says.
        form: `TEXT` or `PACKED`.
        weights: The weights among the module's resources.
        arrays: The other resources.
        path: The file that the text is shown as, in places that it has itself.
        folder: The folder of the user's files, in which the module's locations are.
    """

    content: bytes
    form: str = TEXT
    weights: EngineWeights | None = None
    arrays: Mapping[str, Any] = field(default_factory=dict)
    path: str = "-"
    folder: Path | None = None


@dataclass(frozen=True)
class EngineArtifact:
    """A built engine and the record of what is in it."""

    made: CachedFile
    record: Mapping[str, Any]

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was wrong with the cache."""
        return self.made.warnings


def build_engine(
    source: EngineSource,
    target: "EngineTarget",
    pipeline: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> EngineArtifact:
    """Build an engine, or find the one that was built of the same.

    Args:
        source: What it is built from.
        target: What runs it, and the GPUs that it is for.
        pipeline: Passes that the compiler's process runs first.
        options: How to build, as the target's library has it.
        timeout: Seconds that the compiler may take.
        meanwhile: What the session has to do while an engine is built; it is not called
            where one is cached.

    Raises:
        DiagnosticError: The library is missing, refuses the module, crashes, hangs or runs out of
            memory.
    """
    with ExitStack() as held:
        weights = source.weights or held.enter_context(EngineWeights(target.name))
        measured = weights.with_arrays(source.arrays)
        request = {
            **(options or {}),
            "form": source.form,
            "path": source.path,
            "pipeline": list(pipeline),
            "compute_capabilities": list(target.capabilities),
            "weights": measured.files,
        }
        asked = {name: value for name, value in request.items() if name != "weights"}
        parts = _key_parts(source, target, measured, asked)
        held.enter_context(entry_origin(_weight_facts(measured)))
        records: list[Any] = []

        def ask(place: Mapping[str, Any], meanwhile: Callable[[], object] | None = None) -> Any:
            reply = _request_engine(
                source, target, {**request, **place}, weights.mapped_files, timeout, meanwhile
            )
            weights.verify()  # else the digest above would be that of other weights
            records.append(json.loads(reply))
            return records[-1].pop("plan")

        def write(path: Path, start: int) -> MemberRecord:
            plan = ask({"plan": str(path), "start": start}, meanwhile)
            return MemberRecord(plan["size"], plan["digest"], plan["crc32"])

        place = key({**parts, "what": "engine"})
        made = PlanCache(patience=timeout, shared=True).get_or_write(place, write)
        # The record is small, and made with the engine: where one is there and the other is not,
        # it is said once more by the library.
        record = key({**parts, "what": "engine record"})
        return EngineArtifact(made, _engine_record(record, records, ask))


def _key_parts(
    source: EngineSource, target: "EngineTarget", weights: WeightFiles, asked: Mapping[str, Any]
) -> dict[str, str | bytes]:
    """All that an engine depends on."""
    return {
        "target": str(target),
        "module": source.content,
        "weights": weights.digest,
        "request": json.dumps(asked, sort_keys=True),
        **toolchain(target),
    }


def _weight_facts(weights: WeightFiles) -> dict[str, str]:
    """What was measured of each file of the user's, by name."""
    files = weights.files[: len(weights.own)]
    return {
        f"weights of `{Path(file['path']).name}`": digest.hex()[:32]
        for file, digest in zip(files, weights.own, strict=True)
    }


def toolchain(target: "EngineTarget") -> dict[str, str]:
    """What an engine depends on beside what is asked for."""
    return {
        "library": library_version(target.distribution),
        "tripybuild": VERSION,
        # What is not built ahead is built for the GPU that is here, and runs on no other.
        "gpu": "" if target.entry.portable else repr(gpu.find_gpu()),
    }


def _log_cache(*, is_hit: bool) -> None:
    how = "was built of the same module, weights and options before" if is_hit else "is new"
    logger.verbose(f"cache {'hit' if is_hit else 'miss'}: TensorRT's engine {how}")


def _engine_record(
    place: str, made: Sequence[Any], ask: Callable[[Mapping[str, Any]], Any]
) -> Mapping[str, Any]:
    _log_cache(is_hit=not made)
    if made:
        Cache(shared=True).put(place, json.dumps(made[0], sort_keys=True).encode())
        return made[0]  # type: ignore[no-any-return]
    found = Cache(shared=True).get(place)
    if found is not None:
        return json.loads(found)  # type: ignore[no-any-return]
    with tempfile.NamedTemporaryFile() as plan:
        ask({"plan": plan.name})
    return made[0]  # type: ignore[no-any-return]


def _request_engine(
    source: EngineSource,
    target: "EngineTarget",
    request: Mapping[str, Any],
    mapped: Sequence[str],
    timeout: float | None,
    meanwhile: Callable[[], object] | None,
) -> bytes:
    session = compiler_process.session(target.name)
    try:
        return session.compile(
            target.name,
            source.content,
            request,
            timeout=timeout,
            meanwhile=meanwhile,
            mapped=mapped,
        )
    except DiagnosticError as error:
        raise DiagnosticError(
            *(relocate_diagnostic(each, source.folder) for each in error.diagnostics)
        ) from error


def relocate_diagnostic(diagnostic: Diagnostic, folder: Path | None) -> Diagnostic:
    """A diagnostic whose place is written as the user named the folder."""
    span = diagnostic.span
    if folder is None or span is None or Path(span.path).is_absolute():
        return diagnostic
    path = (folder / span.path).as_posix()
    return replace(diagnostic, span=replace(span, path=path))


@dataclass
class EngineMembers:
    """The engines of a model's entries as members of its file, each with its record and module."""

    contents: dict[str, Content] = field(default_factory=dict)
    measured: dict[str, MemberRecord] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    def add(
        self,
        manifest: dict[str, Any],
        engine: EngineArtifact,
        module: bytes,
        others: Sequence[EngineArtifact] = (),
    ) -> None:
        """Add the engine of an entry.

        Args:
            manifest: What the executable says of the entry, to which this adds the engine.
            engine: The engine that runs when the entry is called.
            module: The text of what it was built from.
            others: The engines of the module's other functions.
        """
        at = partial(entry_member, entry=manifest["name"])
        plan, record, text = at(PLAN), at(RECORD), at(MODULE)
        self._put(plan, record, engine)
        self.contents[text] = module
        manifest["engine"] = {
            "plan": plan,
            "record": record,
            "module": text,
            "library": engine.record["library"],
            "compute_capabilities": engine.record["compute_capabilities"],
        }
        for number, other in enumerate(others, 1):
            places = (f"tensorrt/{number}/{each.partition('/')[2]}" for each in (PLAN, RECORD))
            plan, record = map(at, places)
            self._put(plan, record, other)
            said = {"function": other.record["function"], "plan": plan, "record": record}
            manifest["engine"].setdefault("others", []).append(said)

    def _put(self, plan: str, record: str, engine: EngineArtifact) -> None:
        self.contents[plan], self.measured[plan] = engine.made.part, engine.made.member
        self.contents[record] = json.dumps(engine.record, sort_keys=True).encode() + b"\n"
        self.warnings += engine.warnings

    def model(self, manifest: Mapping[str, Any]) -> CompiledModel:
        """The compiled model of these engines."""
        made = CompiledModel(json.loads(json.dumps(manifest)), self.contents, self.measured)
        made.warnings += self.warnings
        return made


@cache
def library_version(distribution: str) -> str:
    """The version of a target's library, without loading it."""
    return installed_version(distribution)
