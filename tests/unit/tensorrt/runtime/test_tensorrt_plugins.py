"""Tests of plugins, against the registry and the creators that regular TensorRT has."""

from enum import Enum
from types import SimpleNamespace

import numpy as np
import pytest
from tensorrt_programs import A, unary

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.runtime import engine
from tripybuild.tensorrt.translation.constants import NetworkConstants
from tripybuild.tensorrt.translation.emission import Emission
from tripybuild.tensorrt.translation.log import Log


class FieldType(Enum):
    """The types of a plugin's parameters."""

    FLOAT32 = 1
    INT32 = 2
    INT64 = 3
    CHAR = 4
    DIMS = 5


class Creator:
    """A creator that keeps what it was given."""

    field_names = tuple(
        SimpleNamespace(name=name, type=kind)
        for name, kind in (
            ("scale", FieldType.FLOAT32),
            ("mode", FieldType.CHAR),
            ("sizes", FieldType.INT64),
            ("table", FieldType.INT32),
            ("dims", FieldType.DIMS),
        )
    )

    def __init__(self):
        self.made = None

    def create_plugin(self, name, fields, phase):
        self.made = (name, {field[0]: field[1] for field in fields}, phase)
        return None if name == "Stubborn" else object()


class Library:
    """A library with plugins, as regular TensorRT is one."""

    name, version = "tensorrt", "10.9"

    def __init__(self, creator):
        known = ("Mine", "Stubborn")

        def find(name, version, space):
            return creator if name in known and (version, space) == ("2", "us") else None

        self.module = SimpleNamespace(
            get_plugin_registry=lambda: SimpleNamespace(get_creator=find),
            PluginField=lambda name, data, kind: (name, data, kind),
            PluginFieldCollection=list,
        )

    def has_layer(self, method):
        return method == "add_plugin_v3"

    def member(self, kind, name):
        return f"{kind}.{name}"


class Network:
    """A network that takes plugins."""

    def __init__(self):
        self.given = None

    def add_plugin_v3(self, inputs, shapes, plugin):
        self.given = inputs, shapes, plugin
        return SimpleNamespace(name="", metadata="", get_output=lambda index: f"output {index}")


def emitted(name, parameters="", version="2", space="us"):
    """The creator, the network and the outputs of a plugin's operation."""
    text = unary(
        f'tensorrt.opaque_plugin {{plugin_name = "{name}", plugin_version = "{version}", '
        f'plugin_namespace = "{space}", creator_params = {{{parameters}}}}} (%a) : ({A}) -> {A}'
    )
    function = engine.select_function(parser.parse(text), None)
    op = function.body.block.first_op
    creator, network = Creator(), Network()
    constants = NetworkConstants(lambda *_: None, {}, lambda _: None)
    at = Emission(Library(creator), network, Log(), constants)
    at.values[op.operands[0]] = "input"
    at.names.enter(op)
    return creator, network, at.translate(op), at


PARAMETERS = (
    'scale = 0.5 : f32, mode = "fast", sizes = array<i64: 1, 2>, '
    "table = dense<[3, 4]> : tensor<2xi32>"
)


def test_a_registered_plugin_is_made_of_its_parameters():
    """Numbers, text, arrays and constants become arrays of the creator's types."""
    creator, network, tensors, at = emitted("Mine", PARAMETERS)
    name, fields, phase = creator.made
    assert (name, phase) == ("Mine", "TensorRTPhase.BUILD")
    expected = {
        "scale": np.array([0.5], np.float32),
        "mode": np.frombuffer(b"fast", np.int8),
        "sizes": np.array([1, 2], np.int64),
        "table": np.array([3, 4], np.int32),
    }
    for key, array in expected.items():
        assert fields[key].dtype == array.dtype
        assert fields[key].tolist() == array.tolist()
    assert all(any(array is kept for kept in at.constants.kept) for array in fields.values())
    assert network.given[:2] == (["input"], [])
    assert tensors == ["output 0"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("Theirs",), "tensorrt-unsupported", "No plugin `Theirs`, version `2`"),
        (("Mine", "", "1"), "tensorrt-unsupported", "version `1`"),
        (("Mine", "", "2", "them"), "tensorrt-unsupported", "`them`"),
        (("Mine", "speed = 1 : i32"), "tensorrt-refused", "no parameter `speed`"),
        (("Mine", 'scale = "big"'), "tensorrt-refused", "`scale` is a FLOAT32"),
        (("Mine", "dims = 1 : i32"), "tensorrt-refused", "`dims` is a DIMS"),
        (("Stubborn",), "tensorrt-refused", "cannot be made"),
    ],
)
def test_plugins_that_are_not_there_or_not_so_are_refused(arguments, code, says):
    """Other names, versions, namespaces, parameters."""
    with pytest.raises(DiagnosticError) as caught:
        emitted(*arguments)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert says in diagnostic.message
