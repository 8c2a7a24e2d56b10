"""Every layer of the recorder's table becomes an operation that verifies, and that TensorRT builds.

The networks are those of `tensorrt_recordings`: each layer with fixed and with dynamic sizes.
"""

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType

import numpy as np
import pytest
from tensorrt_recordings import OPT, PROFILE, RECORDINGS, B, Recording, S
from xdsl.dialects.builtin import DenseResourceAttr

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.symbolic.dims import evaluate
from tripybuild.targets.tensorrt.model import PIPELINE
from tripybuild.tensorrt import layers as trt, shape_rules
from tripybuild.tensorrt.dialect.base import TensorrtOperation, sizes
from tripybuild.tensorrt.dialect.declaration import declaration
from tripybuild.tensorrt.emission import EmissionError, EmittedModule, emit_module
from tripybuild.tensorrt.emission.layer_emission import OPERATIONS
from tripybuild.tensorrt.layers.declaration import LayerDeclaration, SingleResultLayer
from tripybuild.tensorrt.layers.operation import LayerOperation, operand, output
from tripybuild.tensorrt.mlir import resources, verifier
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.translation.type_crosscheck import disagreements
from tripybuild.testing.engines.layer_builds import build_record
from tripybuild.types.dtypes import boolean, float32, int32

# What TensorRT-RTX has and cannot build: the module is right, and an engine of it is refused.
NOT_BUILT = {
    "non_zero": "nothing that computes `tensorrt.non_zero`",
    "nms": "nothing that computes `trtx.nms`",
    "moe": "nothing that computes `trtx.moe`",
    "opaque_plugin": "has no plugins",
}
# What fails inside of TensorRT-RTX's compiler; here to be told when a release mends it.
FAULTS = {"if_/nested/dynamic": "input_size()"}


def module_of(recording: Recording) -> EmittedModule:
    """The module of a recording."""
    return emit_module(recording.network(), "recorded", [PROFILE])


def arrays(network: trt.Network, made: EmittedModule) -> dict[str, np.ndarray]:
    """The data of a module's resources, with ones for weights."""
    weights = {n: np.ones(v.shape, v.dtype.numpy) for n, v in network.weights.items()}
    return {**made.resources, **weights}


def tells(given, inferred):
    """Whether a type has the rank and the numbers of another one."""
    found, wanted = sizes(given), sizes(inferred)
    return len(found) == len(wanted) and all(
        number in (None, size) for size, number in zip(found, wanted, strict=True)
    )


def test_no_layer_is_left_out():
    """Each is recorded with fixed and with dynamic sizes, and records what it is named after."""
    assert {each.layer for each in RECORDINGS.values()} == set(trt.LAYERS)
    for each in RECORDINGS.values():
        names = [layer.declaration.name for layer in each.network().layers]
        assert each.layer in names, each.name
    assert NOT_BUILT.keys() <= set(trt.LAYERS)
    assert FAULTS.keys() <= set(RECORDINGS)


@pytest.mark.parametrize("name", RECORDINGS)
def test_it_verifies_and_keeps_its_text(name):
    """Also after passes; text that is read is the module that was printed, data included."""
    made = module_of(RECORDINGS[name])
    assert not verifier.problems(made.module), printer.text(made.module)
    text = printer.text(made.module)
    assert printer.text(parser.parse(text)) == text
    assert printer.text(module_of(RECORDINGS[name]).module) == text
    pipeline.run(made.module, PIPELINE)
    assert not verifier.problems(made.module), printer.text(made.module)


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_recorder_infers_what_the_dialect_infers(name):
    """Each size that the dialect knows; the recorder knows more, where sizes are tensors there."""
    network = RECORDINGS[name].network()
    module = emit_module(network, "recorded", [PROFILE]).module
    for op in module.walk():
        if isinstance(op, TensorrtOperation) and (inferred := op.infer_types()) is not None:
            assert all(map(tells, op.results, inferred)), op
    returned = next(op for op in module.walk() if op.name == "func.return").operands
    for value, given in zip(network.outputs.values(), returned, strict=True):
        assert value.shape is not None
        numbers = tuple(size if isinstance(size, int) else None for size in value.shape)
        assert numbers == sizes(given)


@pytest.mark.parametrize("name", RECORDINGS)
def test_tensorrt_builds_it(name):
    """Or says why it does not."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    recording = RECORDINGS[name]
    network = recording.network()
    made = emit_module(network, "recorded", [PROFILE])
    made = replace(made, resources=arrays(network, made))
    refused = NOT_BUILT.get(recording.layer) or FAULTS.get(name)
    if refused is None:
        record = build_record(made)
        pipeline.run(made.module, PIPELINE)
        outputs = [{"name": n, **described(v)} for n, v in network.outputs.items()]
        assert [each["name"] for each in record["outputs"]] == list(network.outputs)
        assert not list(disagreements(made.module, record, outputs))
        return
    with pytest.raises(DiagnosticError, match="tensorrt") as caught:
        build_record(made)
    (problem,) = caught.value.diagnostics
    code = "tensorrt-refused" if name in FAULTS else "tensorrt-unsupported"
    assert problem.code == code
    assert refused in " ".join([problem.message, *problem.notes])


def described(value):
    """A value's type, as manifests have it."""
    return {"dtype": value.dtype.name, "shape": list(value.shape)}


def recorded(build, *inputs):
    """A network of what `build` records on inputs."""
    return Recording("x", {f"x{i}": each for i, each in enumerate(inputs)}, build).network()


def text_of(build, *inputs):
    """The lines of the function of a network."""
    lines = printer.text(emit_module(recorded(build, *inputs), "m", [PROFILE]).module).splitlines()
    return [line.strip() for line in lines[2:-2]]


@pytest.mark.parametrize(
    ("build", "inputs", "message"),
    [
        (
            lambda x, i: trt.gather_nd(x, i, 1),
            [(float32, (2, 3, 4)), (int32, (2, 1))],
            "`trt.gather_nd`: the dialect's `gather_nd` has no `num_broadcast_dims`",
        ),
        (
            trt.convolution,
            [(float32, (1, 3, 8, 8)), (float32, (6, 3, S, 3))],
            "`trt.convolution`: TensorRT needs numbers for all sizes of a kernel",
        ),
        (
            lambda p, x: trt.if_(p, lambda: [x], lambda: [trt.reduce(x, [0], "sum")], []),
            [(boolean, ()), (float32, (2, 3))],
            "`trt.if_`: the shape of Value\\(float32\\[...\\]\\) is not known",
        ),
        (
            lambda x: trt.unary(x, "isinf"),
            [(int32, (2,))],
            "`trt.unary`: int32 has neither infinities nor NaN",
        ),
        (
            trt.resize_linear,
            [(float32, (1, 1, 4, 4))],
            "`trt.resize_linear`: it needs a shape, or scales",
        ),
        (
            lambda x: trt.constant([B, S], int32, [2, 1]),
            [(int32, (B, S))],
            "`trt.constant`: several sizes are a list",
        ),
        (
            lambda x: trt.broadcast(x, [B]),
            [(float32, (1,))],
            "`trt.broadcast`: no tensor has a dimension of size `B`",
        ),
    ],
)
def test_what_cannot_be_said_is_refused_in_words(build, inputs, message):
    """With the layer, and the place where it was asked for."""
    with pytest.raises(EmissionError, match=message):
        emit_module(recorded(build, *inputs), "m")


def test_infinities_are_found_by_comparisons():
    """NVIDIA's dialect has no `kISINF` and `kISNAN`."""
    assert text_of(lambda x: trt.unary(x, "isnan"), (float32, (2,)))[:-1] == [
        (
            "%0 = tensorrt.element_wise <kEQUAL>(%arg0, %arg0 : tensor<2xf32>, tensor<2xf32>) -> "
            "tensor<2xi1>"
        ),
        "%1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNOT>} %0 : tensor<2xi1>",
    ]
    found = text_of(lambda x: trt.unary(x, "isinf"), (float32, (2, 3)))
    assert "kABS" in found[0]
    assert found[1].endswith("tensorrt.constant dense<0x7F800000> : tensor<1x1xf32>")
    assert "kEQUAL" in found[2]


def test_constants_have_the_shape_in_which_they_are_used():
    """No layer reshapes them, and what was only reshaped is not there."""
    network = trt.Network({"w": (float32, (3,))}, {"x": (float32, (2, 3))})
    with network:
        x, w = network.inputs["x"], network.weights["w"]
        row = trt.unsqueeze(w, [0])
        column = trt.transpose(trt.reshape(row, [3, 1]), [1, 0])
        network.finish({"y": x + row + row, "z": column})
    made = emit_module(network, "m")
    constants = [op for op in made.module.walk() if op.name == "tensorrt.constant"]
    assert [str(op.weights) for op in constants] == [
        "dense_resource<w> : tensor<1x3xf32>",
        "dense_resource<w> : tensor<3x1xf32>",
    ]
    names = {op.name for op in made.module.walk()}
    assert names.isdisjoint({"tensorrt.expand_rank", "tensorrt.reshape"})
    assert [op.location.desc.data for op in constants] == ["w", "w"]


def test_what_is_equal_is_there_once():
    """Numbers, and values in another shape; zeros of two signs are two numbers."""

    def build(x, y):
        wide = [trt.unsqueeze(x, [0]) + y for _ in range(2)]
        return [wide[0] + 0.5, wide[1] * 0.5, wide[1] - 0.0, wide[1] - -0.0]

    lines = text_of(build, (float32, (S,)), (float32, (B, S)))
    assert sum("expand_rank" in line for line in lines) == 1
    assert sum("constant" in line for line in lines) == 3


def test_what_is_equal_is_made_again_beside_a_branch():
    """A value of one branch is not seen in the other."""

    def build(p, x):
        return trt.if_(p, lambda: [x * 0.5], lambda: [x + 0.5], [])

    lines = text_of(build, (boolean, ()), (float32, (2, 3)))
    assert sum("constant" in line for line in lines) == 2


def test_axes_are_sorted():
    """The dialect takes them in order alone, and operators give them in any."""
    assert (
        "reduceAxes = array<i64: 0, 2>"
        in text_of(lambda x: trt.reduce(x, [2, 0], "sum"), (float32, (2, 3, 4)))[0]
    )


@pytest.mark.parametrize("name", [n for n in RECORDINGS if n.startswith("constant/")])
def test_constants_survive_the_text(name):
    """Small ones are written out, large ones are data beside the module, to the last bit."""
    made = module_of(RECORDINGS[name])
    resources.of(made.module).add_arrays(made.resources)
    read = parser.parse(printer.text(made.module, data=True))
    kept = resources.of(read)
    constants = [op for op in read.walk() if op.name == "tensorrt.constant"]
    large = {
        op.weights.resource_handle.data: kept.array(op.weights)
        for op in constants
        if isinstance(op.weights, DenseResourceAttr)
    }
    assert large.keys() == made.resources.keys()
    for key, array in made.resources.items():
        assert large[key].dtype == array.dtype
        assert large[key].tobytes() == array.tobytes()
    assert bool(large) == ("large" in name)


def without_rule(layers):
    """The layers whose results have shapes that nothing says."""
    return {
        each.name
        for each in layers
        if each.shape is None and not (each.body and each.body.rule_parameters)
    }


def test_every_layer_has_a_rule():
    """But those that run regions, or give what they are told."""
    without = {"assertion", "if_", "while_", "for_", "opaque_plugin"}
    assert without_rule(trt.LAYERS.values()) == without


@pytest.mark.parametrize(("like", "found"), [({}, {"forgetful"}), ({"like": "input"}, set())])
def test_a_layer_without_a_rule_is_found(like, found):
    """A result has the shape of an operand where the class says so, and not by itself."""

    class ForgetfulOp(LayerOperation):
        """One that changes shapes, and says not how."""

        name = "trtx.forgetful"
        input = operand(trt.kinds.RANKED)
        result = output(trt.kinds.RANKED, dtype="input", **like)

    assert without_rule([SingleResultLayer(ForgetfulOp)]) == found


def builders():
    """The builders and helpers of `trt.`, by the modules and names that declare them."""
    for file in iter_modules(trt.__path__):
        module = import_module(f"{trt.__name__}.{file.name}")
        for name, each in vars(module).items():
            is_function = isinstance(each, FunctionType) and each.__module__ == module.__name__
            if is_function or isinstance(each, LayerDeclaration):
                yield name, each


def test_each_builder_is_the_one_of_its_module(monkeypatch):
    """Star imports also take what modules import: a name of theirs may hide a layer."""

    def hidden():
        """The names that snippets find another object under."""
        return {name for name, each in found if getattr(trt, name) is not each}

    vocabulary = trt.LAYERS.keys() | trt.HELPERS.keys()
    found = [(name, each) for name, each in builders() if name in vocabulary]
    assert {name for name, _ in found} == vocabulary
    assert hidden() == set()
    monkeypatch.setattr(trt, "broadcast", shape_rules.broadcast)
    assert hidden() == {"broadcast"}


def test_every_operation_is_there():
    """A declaration names operations of the dialects, with attributes that they have."""
    for layer in trt.LAYERS.values():
        for name in filter(None, (layer.operation, layer.float4_operation)):
            readers = declaration(OPERATIONS[name]).readers
            kinds = [each for each in layer.parameters.values() if "tensor" not in each.name]
            named = [kind.attribute for kind in kinds if kind.attribute]
            assert readers.keys() >= set(named), layer.name


def numbered(shape):
    """A shape with the best numbers of the profile for its symbols."""
    return [size if size is None else evaluate(size, OPT) for size in shape]


def paired():
    """The recordings that are there with numbers and with symbols, by both names."""
    for name, symbols in RECORDINGS.items():
        other = name.replace("/dynamic", "/static")
        numbers = RECORDINGS.get(other)
        if other != name and numbers is not None:
            shapes = [numbered(shape) for _, shape in symbols.inputs.values()]
            if shapes == [list(shape) for _, shape in numbers.inputs.values()]:
                yield name, other


@pytest.mark.parametrize(("name", "other"), list(paired()))
def test_symbols_give_what_numbers_give(name, other):
    """Shapes of symbols, with numbers put in, are the shapes that the numbers have."""
    symbols, numbers = (RECORDINGS[each].network().outputs.values() for each in (name, other))
    assert [numbered(each.shape) for each in symbols] == [list(each.shape) for each in numbers]
