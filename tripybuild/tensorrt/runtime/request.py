"""Build request of the worker process: a module in, an engine or its record out.

A request's options are those of `Options`, and beside them:

- `form`: `packed` where the module is what `mlir.packing` made of it, and is verified by the
  sender, while it is built here; else it is a text, which is verified here;
- `path`: the file that the text is of, for places in diagnostics;
- `pipeline`: names of passes to run first;
- `weights`: a list of `{"path": a file, "tensors": {name: {"dtype", "shape", "begin", "end"}}}`,
  where the data of `dense_resource<name>` constants lies, as in a safetensors file; the files are
  mapped, not read;
- `plan`: a file to write the engine to, from the offset `start` on; the reply is then the record,
  with the engine's size and digests, and else the engine itself.
"""

import json
import mmap
from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import prod
from pathlib import Path
from typing import Any

import blake3
import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.runtime.engine import serialize
from tripybuild.tensorrt.runtime.plan_file import PlanFile, PlanInMemory
from tripybuild.tensorrt.translation.constants import Array
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.options import Options
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.nonfinite import nonfinite

BYTE = 8  # bits
# The dtypes of safetensors files.
SAFETENSORS = {each.safetensors: each for each in BY_NAME.values()}
OWN = frozenset({"form", "path", "pipeline", "weights", "plan", "start"})


def prepare(library: str) -> Callable[[bytes, Mapping[str, Any]], bytes]:
    """Load a library, and return what compiles with it."""
    Library.find(library)

    def compile(content: bytes, options: Mapping[str, Any]) -> bytes:
        return compile_request(content, {**options, "library": library})

    return compile


def compile_request(content: bytes, options: Mapping[str, Any]) -> bytes:
    """Build an engine of a module, as a request asks.

    Raises:
        DiagnosticError: The text, the module, an option or a weight is wrong, or TensorRT refuses.
    """
    from tripybuild.tensorrt.mlir import resources  # noqa: PLC0415 - when used

    asked = Options.of({key: value for key, value in options.items() if key not in OWN})
    module = module_of(content, options)
    run(module, options.get("pipeline") or ())
    weights, stored = weights_of(options), resources.of(module).array
    return respond(lambda take: serialize(module, take, asked, weights, stored), options)


def module_of(content: bytes, options: Mapping[str, Any]) -> ModuleOp:
    """Read the module of a request; a text is verified, and else its sender does so.

    Raises:
        DiagnosticError: The text or the module is wrong.
    """
    from tripybuild.tensorrt.mlir import context, packing, verifier  # noqa: PLC0415
    from tripybuild.tensorrt.mlir.reading import parser  # noqa: PLC0415

    within = context.new_context()
    if options.get("form") == "packed":
        return packing.unpack(content, within)
    module = parser.parse(content.decode(), str(options.get("path") or "-"), within)
    problems = verifier.problems(module)
    if problems:
        raise DiagnosticError(*problems)
    return module


def weights_of(options: Mapping[str, Any]) -> dict[str, Array]:
    """Return the weights of a request by name."""
    files = options.get("weights") or ()
    return {name: array for file in files for name, array in map_arrays(file).items()}


def respond(
    make: Callable[[Callable[[Any], bool]], Mapping[str, Any]], options: Mapping[str, Any]
) -> bytes:
    """Return what a request is answered with: the engine, or its record where it is written.

    Args:
        make: Makes the engine, hands its pieces to its argument, and returns its record.
        options: Those of the request.

    Raises:
        DiagnosticError: The engine cannot be made, or not be written.
    """
    plan = options.get("plan")
    if plan is None:
        kept = PlanInMemory()
        make(kept.take)
        return bytes(kept)
    with PlanFile(Path(str(plan)), int(options.get("start") or 0)) as file:
        try:
            record = make(file.take)
        except DiagnosticError:
            file.check()  # TensorRT does not know why its pieces were refused
            raise
        measured = file.finish()
    return json.dumps({**record, "plan": measured._asdict()}, sort_keys=True).encode()


def run(module: ModuleOp, names: Any) -> None:
    """Run passes on a module, in order.

    Raises:
        DiagnosticError: There is no such pass, or one refuses the module.
    """
    if not names:
        return
    from tripybuild.tensorrt.passes import pipeline  # noqa: PLC0415 - when used

    try:
        pipeline.run(module, names)
    except KeyError as error:
        raise DiagnosticError(Diagnostic("wrong-value", f"there is no pass {error}")) from error


def map_arrays(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays that lie in a file; they are parts of one mapping of it."""
    path = Path(str(given["path"]))
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        message = f"The weights in `{path}` cannot be read: {error.strerror}"
        raise DiagnosticError(Diagnostic("weights-not-found", message)) from error
    whole = np.frombuffer(memory, np.uint8)
    return {name: _part(whole, name, place) for name, place in given["tensors"].items()}


def _part(whole: Array, name: str, place: Mapping[str, Any]) -> Array:
    """Return a tensor in a file; two elements in a byte stay bytes.

    Of int4, safetensors and arrays have a byte for each.
    """
    begin, end, word = int(place["begin"]), int(place["end"]), str(place["dtype"])
    if not 0 <= begin <= end <= whole.size:
        message = f"The weights file ends before `{name}` does"
        raise DiagnosticError(Diagnostic("weights-malformed", message))
    found = BY_NAME.get(word) or SAFETENSORS.get(word)
    if found is None or (found.bits < BYTE and end - begin < prod(place["shape"])):
        return whole[begin:end]
    if (end - begin) % found.numpy.itemsize:
        message = f"The bytes of `{name}` are not a whole number of {found}"
        raise DiagnosticError(Diagnostic("weights-malformed", message))
    return whole[begin:end].view(found.numpy)


def digest_weights(content: bytes, options: Mapping[str, Any]) -> bytes:
    """Digest names, types and bytes of tensors; the path says nothing of them, and is left out.

    Args:
        content: A file as requests have it, in JSON: `{"path": ..., "tensors": ...}`.
        options: `{"suspects": true}` also looks for elements that are no finite numbers.

    Returns:
        In JSON, `{"digest": ..., "nonfinite": {name: ...}}`.

    Raises:
        DiagnosticError: The file is not there, or too short.
    """
    file, scan = json.loads(content), bool(options.get("suspects"))
    digest = blake3.blake3(max_threads=blake3.blake3.AUTO)
    found = {}
    for name, array in map_arrays(file).items():
        digest.update(head(name, file["tensors"][name]))
        digest.update(array.view(np.uint8).data)
        if scan and (suspects := nonfinite(array)) is not None:
            found[name] = asdict(suspects)
    return json.dumps({"digest": digest.hexdigest(), "nonfinite": found}).encode()


def head(name: str, entry: Mapping[str, Any]) -> bytes:
    """Header of a tensor in the digest, with a length prefix."""
    said = json.dumps([name, entry["dtype"], entry["shape"]]).encode()
    return len(said).to_bytes(8, "little") + said
