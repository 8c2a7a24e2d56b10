"""What is said of an engine, from its record alone."""

from functools import partial

from tripybuild.cli.commands.inspect import _section
from tripybuild.targets.tensorrt.record import engine_tables

tables = partial(engine_tables, portable=True)

LAYERS = [
    {
        "name": "a",
        "op": "tensorrt.constant",
        "location": '"block.0"("tiny.yaml":3:4)',
        "outputs": [{"dtype": "float32", "shape": [2, None]}],
    },
    {
        "name": "b",
        "op": "trtx.nms",
        "location": '"tiny.yaml":5:6',
        "outputs": [{"dtype": "int32", "shape": [None, 3]}, {"dtype": "int32", "shape": []}],
    },
]


def port(name, *profiles, of_values=False):
    keys = ("min", "opt", "max")
    ranges = [dict(zip(keys, each, strict=True)) for each in profiles]
    return {"name": name, "profiles": ranges, "of_values": of_values}


def record(*inputs, capabilities=("sm120", "sm89"), layers=LAYERS):
    return {
        "library": {"name": "tensorrt-rtx", "version": "1.7.1"},
        "compute_capabilities": list(capabilities),
        "inputs": list(inputs),
        "layers": layers,
    }


def test_the_engine():
    """Who built it, for which GPUs in their order, and of how many layers of which kinds."""
    assert tables(record(), layers=False) == [
        (
            "engine",
            {
                "built by": "tensorrt-rtx 1.7.1",
                "runs on": "SM89, SM120",
                "layers": "2 (1 constant, 1 trtx.nms)",
            },
        )
    ]


def test_an_engine_for_all_gpus():
    """No capability is all of them; no layer is none."""
    ((_, rows),) = tables(record(capabilities=(), layers=[]), layers=False)
    assert rows["runs on"] == "any GPU that it knows"
    assert rows["layers"] == "0"
    local = {**record(capabilities=()), "library": {"name": "tensorrt", "version": "10.9"}}
    ((_, rows),) = tables(local, portable=False, layers=False)
    assert rows["runs on"] == "GPUs like the one that it was built on"


def test_many_kinds_of_layers():
    """The most frequent ones by name, the others by number."""
    kinds = [f"tensorrt.{name}" for name in "aabcdefg"]
    layers = [{**LAYERS[0], "op": kind} for kind in kinds]
    ((_, rows),) = tables(record(layers=layers), layers=False)
    assert rows["layers"] == "8 (2 a, 1 b, 1 c, 1 d, 1 e, 2 others)"


def test_profiles():
    """Each profile is a table; an input with one range has it in each."""
    x = port("x", ([1], [2], [4]), ([8], [8], [8]))
    n = port("n", ([1], [2], [3]), of_values=True)
    _, *profiles = tables(record(x, n, port("fixed")), layers=False)
    ranged = "values min [1], opt [2], max [3]"
    assert profiles == [
        ("profile 0", {"x": "min [1], opt [2], max [4]", "n": ranged}),
        ("profile 1", {"x": "[8]", "n": ranged}),
    ]
    _, (title, _) = tables(record(port("x", ([1], [2], [4]))), layers=False)
    assert title == "profile"


def test_layers():
    """Kinds, types and places, in columns."""
    *_, (title, rows) = tables(record(), layers=True)
    assert title == "layers"
    assert rows == {
        "0": "constant  float32[2, ?]        block.0 (tiny.yaml:3:4)",
        "1": "trtx.nms  int32[?, 3] int32[]  tiny.yaml:5:6",
    }


def test_nothing_is_said_of_what_is_empty():
    """A module of MLIR uses no declarations: there is no row for them."""
    shown = list(_section("provenance", {"specification": "tiny.mlir", "used": []}))
    assert shown == ["\nprovenance", "  specification  tiny.mlir"]
