"""Backend of ONNX: models are prepared, and run on arrays, as every runtime has one.

    prepared = tripybuild.onnx_backend.prepare(model)
    outputs = prepared.run([x])

Invariant: what is run is what `tripybuild import` writes. An input whose elements decide what is
computed, as axes and shapes do, is a constant of a program: where a model needs one, there is a
program for each of its values.
"""

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.compiler.executable import Executable
from tripybuild.compiler.session import compile_graph
from tripybuild.eager.compile.compile import InMemoryWeights
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.importer.foreign_program import ForeignProgram
from tripybuild.importer.onnx_model.files import parse_model
from tripybuild.importer.onnx_model.list_inputs import LISTS, without_lists
from tripybuild.importer.onnx_model.program import load_file, load_model, require_onnx
from tripybuild.importer.translation.program import RecordedProgram, record
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.packages.builtin import builtin_registry
from tripybuild.schema.model.entry_points import UNNAMED
from tripybuild.symbolic.dims import Dim
from tripybuild.targets.table import parse_target

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

if TYPE_CHECKING or find_spec("onnx") is not None:
    from onnx.backend.base import Backend, BackendRep
else:  # `prepare` says how to install it
    Backend = BackendRep = object

Array = np.ndarray[Any, Any]
DEVICE = "CPU"
# The least work, in elements of weights and inputs, for which a program is compiled. References
# are exact, and take less time than a compiler does.
COMPILED = 1 << 18
MOST_ELEMENTS = 1024  # of an input that is a constant
MOST_PROGRAMS = 64  # of one model, for values of its constants
# What is tried in turn: the kinds of NumPy's dtypes of the inputs that are constants.
_ATTEMPTS = ("", "iub", "iubfV")


@dataclass(frozen=True)
class _ModelCall:
    """The model, in the place of a spec's file."""

    text: str = ""
    path: str = "<onnx>"

    def span(self, *_: object, **__: object) -> Span:
        """A place, which no message shows an excerpt of."""
        return Span(self.path, 1, 1, 1, 2)


@dataclass(frozen=True)
class _ModelWeights(InMemoryWeights):
    """The weights of a model, which are read when an engine is made."""

    program: RecordedProgram = field(kw_only=True)

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """The arrays of some weights."""
        weights = self.program.calls.weights
        found = {name: weights[name].weight for name in wanted}
        return {name: np.array(each.load(), order="C") for name, each in found.items() if each}

    def verify(self) -> None:
        """Nothing to compare with: a file that is mapped is the model."""


@dataclass(frozen=True)
class _Program:
    """A program for some values of constants.

    Attributes:
        executable: What runs it.
        inputs: The inputs that it takes, with their positions.
        lists: The outputs that are lists of tensors.
        names: The outputs, in order.
    """

    executable: Executable
    inputs: Mapping[str, int]
    lists: Mapping[str, Sequence[str]]
    names: Sequence[str]

    def run(self, arrays: Sequence[Array]) -> tuple[Any, ...]:
        """The outputs; a list of tensors is a list."""
        found = self.executable(**{name: arrays[at] for name, at in self.inputs.items()})
        return tuple(
            [found[each] for each in self.lists[name]] if name in self.lists else found[name]
            for name in self.names
        )


class PreparedModel(BackendRep):
    """A model that can be run.

    Args:
        source: The model, or its file.
    """

    def __init__(self, source: "ModelProto | Path") -> None:
        self._source = source
        program = self._load({})
        self.inputs = [each.name for each in program.graph.inputs]
        self._files = _file_names(program)
        self._needed = 0
        self._programs: OrderedDict[tuple[object, ...], _Program] = OrderedDict()

    def run(self, inputs: Any, **_settings: Any) -> tuple[Any, ...]:
        """The outputs for arrays, in the order of the model's inputs or by name.

        Raises:
            DiagnosticError: The model cannot be imported, or an input is another than it declares.
        """
        arrays = [np.asarray(each) for each in _ordered(inputs, self._files)]
        for attempt in range(self._needed, len(_ATTEMPTS)):
            try:
                found = self._program(arrays, _ATTEMPTS[attempt])
            except DiagnosticError:
                if attempt == len(_ATTEMPTS) - 1:
                    raise
                continue
            self._needed = attempt
            return found.run(arrays)
        raise AssertionError("the last attempt gives a result or raises")

    def _program(self, arrays: Sequence[Array], kinds: str) -> _Program:
        """The program for the values of inputs that are constants."""
        constants = {
            name: each
            for name, each in zip(self._files, arrays, strict=True)
            if each.ndim <= 1 and each.size <= MOST_ELEMENTS and each.dtype.kind in kinds
        }
        key = tuple((n, str(a.dtype), a.shape, a.tobytes()) for n, a in constants.items())
        if key not in self._programs:
            if len(self._programs) >= MOST_PROGRAMS:
                self._programs.popitem(last=False)
            self._programs[key] = self._make(self._load(constants), arrays)
        self._programs.move_to_end(key)
        return self._programs[key]

    def _load(self, constants: Mapping[str, Array]) -> ForeignProgram:
        if isinstance(self._source, Path):
            return load_file(self._source, constants)
        return load_model(self._source, constants)

    def _make(self, program: ForeignProgram, arrays: Sequence[Array]) -> _Program:
        recorded = record(program, builtin_registry())
        calls = recorded.calls
        entry = EntryGraph(recorded.graph, (), dict(calls.ranges))
        call = _ModelCall()
        built = ModelGraph(calls.name, {UNNAMED: entry}, "", call)
        values = [each.size for each in arrays]
        values += [math.prod(map(int, each.shape)) for each in calls.weights.values()]
        target = parse_target("cpu" if sum(values) >= COMPILED else "reference")
        sizes = _sizes(program, arrays, self.inputs)
        made = compile_graph(
            built,
            _ModelWeights({}, call.span(), program=recorded),
            target,
            {UNNAMED: [sizes]},
            {"model": calls.name},
        )
        inputs = {each.name: self.inputs.index(each.name) for each in calls.graph.inputs}
        names = [name for name, _ in program.graph.outputs]
        return _Program(Executable.of(made), inputs, recorded.lists, names)


class PreparedLists(BackendRep):
    """A model of whose inputs some are lists: it is prepared for each number of their tensors."""

    def __init__(self, model: "ModelProto") -> None:
        self._model = model
        self._inputs = {each.name: each.type for each in _free_inputs(model)}
        self._prepared: dict[tuple[object, ...], PreparedModel] = {}

    def run(self, inputs: Any, **_settings: Any) -> tuple[Any, ...]:
        """The outputs for arrays and lists of them; None is an optional input that is not there.

        Raises:
            DiagnosticError: The model cannot be imported, or an input is another than it declares.
        """
        given = _ordered(inputs, [*self._inputs])
        lists: dict[str, list[Array] | None] = {}
        arrays = []
        for (name, type), value in zip(self._inputs.items(), given, strict=True):
            if type.WhichOneof("value") in LISTS:
                several = value if isinstance(value, list | tuple) else [value]
                lists[name] = None if value is None else [np.asarray(each) for each in several]
                arrays += lists[name] or []
            else:
                arrays.append(np.asarray(value))
        forms = [
            None if each is None else tuple([(a.dtype, a.shape) for a in each])
            for each in lists.values()
        ]
        if (key := tuple(forms)) not in self._prepared:
            self._prepared[key] = PreparedModel(without_lists(self._model, lists))
        return self._prepared[key].run(arrays)


class TripybuildBackend(Backend):
    """The functions below as the class that ONNX's runners take."""

    @classmethod
    def is_compatible(cls, model: "ModelProto", device: str = DEVICE, **_settings: Any) -> bool:
        """Whether a model can be imported without the values of its inputs."""
        try:
            record(load_model(model), builtin_registry())
        except DiagnosticError:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(
        cls, model: "ModelProto | Path | str | bytes", device: str = DEVICE, **_settings: Any
    ) -> "PreparedModel | PreparedLists":
        """Read a model.

        Raises:
            DiagnosticError: It is damaged, or the device is none.
        """
        require_onnx()
        if not cls.supports_device(device):
            message = f"models of ONNX run on `{DEVICE}`, and not on `{device}`"
            raise DiagnosticError(Diagnostic("onnx-unsupported", message))
        if isinstance(model, bytes):
            model = parse_model(model, "the model")
        if isinstance(model, str | Path):
            return PreparedModel(Path(model))
        takes_lists = any(each.type.WhichOneof("value") in LISTS for each in _free_inputs(model))
        return PreparedLists(model) if takes_lists else PreparedModel(model)

    @classmethod
    def run_model(
        cls, model: "ModelProto", inputs: Any, device: str = DEVICE, **settings: Any
    ) -> tuple[Any, ...]:
        """The outputs of a model."""
        return cls.prepare(model, device, **settings).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: "NodeProto",
        inputs: Any,
        device: str = DEVICE,
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **settings: Any,
    ) -> tuple[Any, ...]:
        """The outputs of one node; `opset_version` is that of its operator, else the newest.

        Args:
            node: The node.
            inputs: Its inputs, in order, without those that are left out.
            device: Where it runs.
            outputs_info: The dtypes and shapes of its outputs, which are computed here.
            settings: Those of ONNX's runners.
        """
        del outputs_info
        given = _node_inputs(node, inputs)
        return cls.run_model(_node_model(node, given, settings), [*given.values()], device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on a device, as `CPU` or `CPU:0`."""
        return device.partition(":")[0] == DEVICE


prepare = TripybuildBackend.prepare
run_model = TripybuildBackend.run_model
run_node = TripybuildBackend.run_node
supports_device = TripybuildBackend.supports_device
is_compatible = TripybuildBackend.is_compatible


def _ordered(inputs: Any, names: Sequence[str]) -> list[Any]:
    """The inputs of a call in order.

    Raises:
        DiagnosticError: They are others than the model has.
    """
    if isinstance(inputs, Mapping):
        for name in names:
            if name not in inputs:
                message = f"the model's input `{name}` is not given"
                raise DiagnosticError(Diagnostic("onnx-input", message))
        for name in inputs:
            if name not in names:
                message = f"the model has no input `{name}`"
                raise DiagnosticError(Diagnostic("onnx-input", message))
        return [inputs[name] for name in names]
    given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if len(given) != len(names):
        message = f"the model takes {len(names)} inputs, and {len(given)} are given"
        raise DiagnosticError(Diagnostic("onnx-input", message))
    return given


def _node_inputs(node: "NodeProto", inputs: Any) -> dict[str, Any]:
    """The inputs of a node by name: each once, or at each of its places."""
    places = [name for name in node.input if name]
    names = list(dict.fromkeys(places))
    if isinstance(inputs, Mapping):
        inputs = [inputs[name] for name in names if name in inputs]
    given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if len(given) == len(places):
        return dict(zip(places, given, strict=True))
    if len(given) != len(names):
        message = f"the node has {len(names)} inputs, and {len(given)} are given"
        raise DiagnosticError(Diagnostic("onnx-input", message))
    return dict(zip(names, given, strict=True))


def _node_model(
    node: "NodeProto", given: Mapping[str, Any], settings: Mapping[str, Any]
) -> "ModelProto":
    from onnx import ValueInfoProto, defs, helper  # noqa: PLC0415 - an extra

    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(np.asarray(each).dtype), np.shape(each)
        )
        for name, each in given.items()
    ]
    outputs = [ValueInfoProto(name=name) for name in node.output if name]
    opset = settings.get("opset_version", defs.onnx_opset_version())
    opsets = [helper.make_opsetid(node.domain, opset)]
    return helper.make_model(
        helper.make_graph([node], "node", infos, outputs), opset_imports=opsets
    )


def _free_inputs(model: "ModelProto") -> list["ValueInfoProto"]:
    """The inputs of a model that no initializer gives."""
    held = {each.name for each in model.graph.initializer}
    return [each for each in model.graph.input if each.name not in held]


def _file_names(program: ForeignProgram) -> list[str]:
    """What the file calls the inputs."""
    return [program.input_names.get(each.name, each.name) for each in program.graph.inputs]


def _sizes(
    program: ForeignProgram, arrays: Sequence[Array], names: Sequence[str]
) -> dict[str, int]:
    """The values of the symbols in the sizes of inputs, each of which is a size of some input."""
    found: dict[str, int] = {}
    for each in program.graph.inputs:
        assert each.type is not None
        shape = arrays[names.index(each.name)].shape
        for size, given in zip(each.type.shape, shape, strict=False):
            if isinstance(size, Dim) and size.name is not None:
                found[size.name] = given
    return found
