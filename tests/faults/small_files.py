"""Small files that ask for minutes or gigabytes, and a process that says what they cost.

Run with a folder and names of `FILES`, this prints one line of JSON for each: what is said of it,
the seconds of processor time, and the most memory.
"""

import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tripybuild
from tripybuild.artifact import container
from tripybuild.cli.commands.opt_run import OptOptions, run, steps
from tripybuild.errors.budget import FACTOR
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.load import load

MOST_SECONDS = 100  # of all files together: far more than they take, far less than they took
MOST_ADDRESSES = 6 << 30
HEAD = "tripybuild: 1\n"
MODEL = f"{HEAD}model: m\n"
INPUT = "inputs: {x: 'float32[4]'}\n"
SAME = f"{INPUT}outputs: {{y: x}}\n"
SPEC, EXECUTABLE, MLIR, REGISTRY = "spec.yaml", "file.tpb", "file.mlir", "registry"


def lines(form: str, count: int, first: int = 0) -> str:
    """So many lines, in which `{i}` is their number and `{j}` the one before."""
    return "".join(form.format(i=i, j=i - 1) + "\n" for i in range(first, count))


def steps_of(form: str, count: int) -> str:
    """A model of so many steps of a form."""
    return f"{MODEL}{INPUT}steps:\n{lines('  ' + form, count)}outputs: {{y: x}}\n"


def block(times: int, *, sizes: str = "", weights: str = "", steps: int = 1) -> str:
    """A model of one part, so many times."""
    body = f"    {INPUT}{weights}    steps:\n      s0: relu(x)\n"
    body += lines("      s{i}: relu(s{j})", steps, 1) + f"    outputs: {{y: s{steps - 1}}}\n"
    uses = f"{INPUT}parts: {{b: block * {times}}}\noutputs: {{y: b(x)}}\n"
    return f"{MODEL}{sizes}{uses}define:\n  block:\n{body}"


def twice(levels: int) -> str:
    """Definitions, each of which calls the next one twice."""
    form = "  d{i}:\n    inputs: {{x: 'float32[4]'}}\n    outputs: {{y: d{k}(d{k}(x))}}\n"
    calls = "".join(form.format(i=i, k=i + 1) for i in range(levels))
    last = f"  d{levels}:\n    {INPUT}    outputs: {{y: relu(x)}}\n"
    return f"{MODEL}{INPUT}outputs: {{y: d0(x)}}\ndefine:\n{calls}{last}"


def main_of(body: str, head: str = "") -> str:
    """A function of MLIR with a body."""
    return f"{head}func.func @main() {{\n{body}  return\n}}\n"


def doubled(form: str, first: str) -> str:
    """Aliases, each of which names the one before twice."""
    return f"{first}\n" + lines(form, 24, 1)


def splat(words: str, type: str) -> str:
    """A constant of which every element is the same."""
    constant = f"  %0 = tensorrt.constant dense<{words}> : {type}\n"
    return f"func.func @main() -> {type} {{\n{constant}  return %0 : {type}\n}}\n"


LOOP = "len([a for a in range(400) for b in range(120)])"
RANK = "1x" * 100_000
VECTOR = "tensor<2000000000x{}>"
FLOATS, HALVES = VECTOR.format("f32"), VECTOR.format("f16")
FOLDED = f"""func.func @main() -> {HALVES} {{
  %0 = tensorrt.constant dense<1.0> : {FLOATS}
  %1 = tensorrt.unary {{unaryOperation = #tensorrt.unary_operation<kNEG>}} %0 : {FLOATS}
  %2 = tensorrt.cast %1 : {FLOATS} to {HALVES}
  return %2 : {HALVES}
}}
"""
SPECS = {
    "unknown keys": f"{MODEL}{SAME}{lines('k{i}: 1', 30_000)}",
    "unknown names": steps_of("s{i}: nothing_of_the_kind_{i}(x)", 2000),
    "names like others": steps_of("step_of_this_{i}: step_of_that_{i}", 2000),
    "a long part 2,000 times": block(2000, steps=1000),
    "a long part 10,000 times": block(10_000, steps=1000),
    "calls that double": twice(40),
    "sizes that count": f"{MODEL}sizes:\n{lines('  n{i}: ' + LOOP, 3000)}{SAME}",
    "steps that loop": steps_of("s{i}: '[relu(x) for a in range(90) for b in range(400)][0]'", 300),
    "many expressions": steps_of("s{i}: relu(x) + relu(x) - {i} + (1 if {i} else 2)", 15_000),
    "many sizes and parts": block(4000, sizes=f"sizes:\n{lines('  n{i}: 4', 20_000)}"),
    "a chain of sizes": f"{MODEL}sizes:\n  n0: 1\n{lines('  n{i}: n{j} + 1', 10_000, 1)}{SAME}",
    "many weights": block(
        10_000, weights="    weights:\n" + lines("      w{i}: 'float32[4]'", 5000)
    ),
    "a list of a size": f"{MODEL}sizes: {{n: list(range(50000))}}\n{INPUT}parts: {{b: '[block(n)] "
    f"* 9000'}}\noutputs: {{y: b(x)}}\ndefine:\n  block:\n    sizes: {{k: 'int[...]'}}\n"
    f"    {INPUT}    outputs: {{y: x}}\n",
}
TEXTS = {
    "a splat": splat("0.0", VECTOR.format("f32")),
    "a hexadecimal splat": splat('"0x00000000"', VECTOR.format("f32")),
    "a splat of truth": splat("true", VECTOR.format("i1")),
    "a splat that is folded": FOLDED,
    "a splat beyond arrays": splat("0.0", "tensor<99999999999999999999xf32>"),
    "a complex splat": main_of("").replace(
        "@main()", "@main() attributes {a = dense<(0.0,0.0)> : tensor<500000000xcomplex<f32>>}"
    ),
    "aliases that double": doubled("#a{i} = [#a{j}, #a{j}]", "#a0 = [1]")
    + main_of("").replace("@main()", "@main() attributes {a = #a23}"),
    "types that double": doubled("!a{i} = tuple<!a{j}, !a{j}>", "!a0 = tuple<f32>")
    + main_of("").replace("@main()", "@main(%0: !a23)"),
    "locations that double": doubled("#l{i} = loc(fused[#l{j}, #l{j}])", '#l0 = loc("x":1:1)')
    + main_of("").replace("return", "return loc(#l23)"),
    "a rank of 100,000": main_of("").replace("@main()", f"@main(%0: tensor<{RANK}f32>)"),
}


def _operator(folder: Path) -> None:
    """Write an operator of seven type variables."""
    dtypes = "float32, float16, bfloat16, float8, int8, int4, int32, int64, bool"
    text = (
        f"{HEAD}op: seven\ndoc: Take seven.\n"
        f"types:\n{lines('  T{i}: [' + dtypes + ']', 7)}"
        f"inputs:\n{lines('  a{i}: {{type: T{i}[*S], doc: One.}}', 7)}"
        "outputs:\n  out: {type: 'T0[*S]', doc: The first.}\nrequires:\n  one: T0 != T1\n"
        "reference: a0\nlower:\n  stablehlo: a0\n  tensorrt: a0\n  onnx: a0\n"
        f"sample:\n{lines('  a{i}: any([2])', 7)}"
    )
    (folder / REGISTRY / "math").mkdir(parents=True)
    (folder / REGISTRY / "math" / "seven.yaml").write_text(_quoted(text))


def _quoted(text: str) -> str:
    """Quote types, whose brackets are YAML's otherwise."""
    return text.replace("[*S],", "[*S]',").replace("type: T", "type: 'T")


def _executable(change: Callable[[dict, dict], None]) -> Callable[[Path], None]:
    """Write an executable with a change, and right digests."""

    def write(folder: Path) -> None:
        spec = folder / SPEC
        ranges = "inputs: {x: 'float32[A]'}\nranges: {A: {max: 9}}\n"
        spec.write_text(f"{MODEL}{ranges}outputs: {{y: relu(x)}}\n")
        made = tripybuild.compile(spec, target="reference")
        manifest = json.loads(json.dumps(dict(made.manifest)))
        members = {"trace.json": bytes(made.member("trace.json"))}
        change(manifest, members)
        container.write(folder / EXECUTABLE, manifest, members)

    return write


def _laws(manifest: dict, _: dict) -> None:
    law = {"code": "a/b", "source": "s", "line": 1, "message": None, "words": [], "names": {"A": 1}}
    (entry,) = manifest["entries"]
    entry["laws"] = [{**law, "that": f"{LOOP} > {i}"} for i in range(2000)]


def _trace(_: dict, members: dict) -> None:
    members["trace.json"] = b'{"x":[' + b"[]," * 20_000_000 + b"[]]}"


def _operations(_: dict, members: dict) -> None:
    data = json.loads(members["trace.json"])
    data["operations"] *= 20_000
    members["trace.json"] = json.dumps(data).encode()


def _manifest(folder: Path) -> None:
    """Write an executable with a manifest that is small as a text."""
    limits = container.LARGEST_MANIFEST, container.MOST_ENTRIES
    container.LARGEST_MANIFEST = container.MOST_ENTRIES = 1 << 40
    _executable(lambda m, _: m.update(more=[[]] * 2_000_000))(folder)
    container.LARGEST_MANIFEST, container.MOST_ENTRIES = limits


def _weights(made: Callable[[], bytes]) -> Callable[[Path], None]:
    """Write a model whose weights have a header."""

    def write(folder: Path) -> None:
        header = made()
        content = len(header).to_bytes(8, "little") + header
        (folder / "w.safetensors").write_bytes(content)
        part = f"    {INPUT}    weights: {{w: 'float32[4]'}}\n    outputs: {{y: x + w}}\n"
        uses = "parts: {b: block}\noutputs: {y: b(x)}\nweights: w.safetensors\n"
        (folder / SPEC).write_text(f"{MODEL}{INPUT}{uses}define:\n  block:\n{part}")

    return write


def _tensors(count: int) -> bytes:
    form = b'"t%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    return b"{" + b",".join(form % i for i in range(count)) + b"}"


def _text(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None


FILES: dict[str, tuple[str, Callable[[Path], None]]] = {
    **{name: ("emit", _text(SPEC, text)) for name, text in SPECS.items()},
    **{name: ("opt", _text(MLIR, text)) for name, text in TEXTS.items()},
    "seven type variables": ("gen", _operator),
    "laws of an executable": ("run", _executable(_laws)),
    "a manifest of lists": ("run", _manifest),
    "a trace of lists": ("run", _executable(_trace)),
    "a trace of operations": ("run", _executable(_operations)),
    "a header of lists": ("compile", _weights(lambda: b'{"a":[' + b"[]," * 20_000_000 + b"[]]}")),
    "a million tensors": ("compile", _weights(lambda: _tensors(1_000_000))),
    "many tensors left over": ("compile", _weights(lambda: _tensors(50_000))),
}


def work(kind: str, folder: Path) -> str:
    """Do what a user does with a file, and give what is said."""
    if kind == "emit":
        return tripybuild.emit(folder / SPEC, "trace")
    if kind == "compile":
        return str(tripybuild.compile(folder / SPEC, target="reference"))
    if kind == "run":
        return str(tripybuild.load(folder / EXECUTABLE)(x=np.ones(3, np.float32)))
    if kind == "gen":
        raise DiagnosticError(*load([folder / REGISTRY])[1])
    wishes = OptOptions(steps=steps(["canonicalize"], None), locations=True)
    outcome = run((folder / MLIR).read_text(), MLIR, wishes)
    if outcome.diagnostics:
        raise DiagnosticError(*outcome.diagnostics)
    return outcome.text


def measured(name: str, folder: Path, factor: str) -> dict[str, object]:
    """What is said of a file, and what it costs."""
    kind, write = FILES[name]
    folder.mkdir()
    write(folder)
    os.environ[FACTOR] = factor
    Path("/proc/self/clear_refs").write_text("5")  # the most memory is that from here on
    began = time.process_time()
    try:
        said, codes = work(kind, folder), []
    except DiagnosticError as error:
        said, codes = str(error), sorted({each.code for each in error.diagnostics})
    seconds = time.process_time() - began
    os.environ[FACTOR] = "1"
    most = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]
    facts = {"name": name, "codes": codes, "said": said[-9000:]}
    return {**facts, "seconds": seconds, "memory": int(most) << 10}


def main() -> None:
    """Measure files in this process, which has limits of its own."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    folder, *wanted = sys.argv[1:]
    for index, each in enumerate(wanted):
        name, _, factor = each.partition("=")
        found = measured(name, Path(folder) / str(index), factor or "1")
        sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
