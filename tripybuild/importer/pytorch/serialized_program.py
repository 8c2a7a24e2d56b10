"""Programs that `torch.export.save` wrote, read as JSON and raw bytes, without PyTorch.

A `.pt2` file is an archive of a program in JSON, weights as they are in memory, and pickled example
inputs, which are never touched.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, NoReturn

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import ForeignProgram
from tripybuild.importer.pytorch.archive import Archive, StoredTensor, malformed
from tripybuild.importer.pytorch.assembly import DECOMPOSE_HINT, assemble
from tripybuild.importer.pytorch.sizes import single_symbol
from tripybuild.importer.pytorch.source_program import (
    BY_TORCH,
    HIGHER_ORDER,
    Meta,
    NodeMeta,
    SizeMeta,
    SourceGraph,
    SourceInput,
    SourceNode,
    SourceOutput,
    SourceProgram,
    SourceSymbol,
    SourceWeight,
    TensorMeta,
    ValueName,
    leaf_keys,
    model_name,
    output_names,
    positional_parameters,
)

SUFFIX = ".pt2"
_SCHEMA = 8  # the major version of the JSON's schema
_UNDECOMPOSED = "TRAINING"  # what PyTorch calls its operators as they were called
_UNBOUNDED = 1 << 62
# What the JSON's schema numbers.
_DTYPES = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    9: "complex32",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
    28: "uint16",
    29: "float8_e4m3fn",
    30: "float8_e5m2",
    31: "float8_e4m3fnuz",
    32: "float8_e5m2fnuz",
    33: "float8_e8m0fnu",
    34: "uint32",
    35: "uint64",
}
_MEMORY_FORMATS = {1: "contiguous_format", 2: "channels_last", 3: "channels_last_3d"}
_NUMBERS = {"Infinity": float("inf"), "-Infinity": float("-inf"), "NaN": float("nan")}
_PLAIN = {"as_int", "as_string", "as_bool", "as_ints", "as_strings", "as_bools", "as_int_lists"}


def read_archive(path: Path, name: str | None = None) -> ForeignProgram:
    """Read a `.pt2` file.

    Args:
        path: The file.
        name: For the spec's `model:`; by default that of the module's class.

    Raises:
        DiagnosticError: It is damaged, of a version that is not known, holds pickled weights, or
            has what has no counterpart in a spec.
    """
    archive = Archive.open(path)
    with _report_damage(path):
        archive.check_byte_order()
        program = archive.json(archive.member("models/model.json"))
        version = program["schema_version"]["major"]
        if version != _SCHEMA:
            message = f"`{path}` has the schema {version} of programs, and {_SCHEMA} is read"
            hint = "save it with a version of PyTorch from 2.8 on"
            raise DiagnosticError(Diagnostic("import-malformed", message, hint=hint))
        read = assemble(_ProgramReader(program, archive).source(name))
    if _UNDECOMPOSED in program.get("verifiers", ()):
        read.advice = DECOMPOSE_HINT
    return read


@contextmanager
def _report_damage(path: Path) -> Iterator[None]:
    """Make one diagnostic of whatever in a file is not as the schema says."""
    try:
        yield
    except DiagnosticError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        what = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise malformed(path, f"its program is not as PyTorch writes it: {what}") from error


class _ProgramReader:
    """Reads the JSON of a program; `weights` are the entries of both of its lists by name."""

    def __init__(self, program: Mapping[str, Any], archive: Archive) -> None:
        self.program, self.archive = program, archive
        self.graph = program["graph_module"]["graph"]
        self.signature = program["graph_module"]["signature"]
        self.weights: dict[str, tuple[str, Mapping[str, Any]]] = {}
        for folder, file in (
            ("data/weights", "model_weights_config.json"),
            ("data/constants", "model_constants_config.json"),
        ):
            if f"{folder}/{file}" in archive.members:
                config = archive.json(archive.member(f"{folder}/{file}"))["config"]
                twice = sorted(config.keys() & self.weights)
                if twice:
                    raise malformed(archive.path, f"two of its weights are called `{twice[0]}`")
                self.weights |= {name: (folder, each) for name, each in config.items()}

    def source(self, name: str | None) -> SourceProgram:
        inputs = [each for spec in self.signature["input_specs"] for each in self._input(spec)]
        metas = {each.path: each.meta for each in inputs if each.path}
        nodes = list(self._nodes(self.graph))
        return SourceProgram(
            name=name or model_name(stack for node in nodes for stack in node.meta.modules),
            inputs=inputs,
            nodes=nodes,
            outputs=list(self._outputs()),
            symbols=self._symbols(inputs),
            weights={path: self._weight(path, meta) for path, meta in metas.items()},
        )

    def _input(self, spec: Mapping[str, Any]) -> Iterator[SourceInput]:
        ((kind, given),) = spec.items()
        if kind == "constant_input":
            return
        word = {
            "parameter": "parameter_name",
            "buffer": "buffer_name",
            "tensor_constant": "tensor_constant_name",
            "user_input": "",
        }.get(kind)
        if word is None:
            message = f"an input is a `{kind}`, and no tensor"
            raise DiagnosticError(Diagnostic("import-unsupported", message))
        argument = given["arg"] if word else _only(given["arg"])[1]
        if not isinstance(argument, dict):  # a number or nothing, which the program has as it is
            return
        name = argument.get("name") or argument["as_name"]
        meta = self._meta(self.graph, name)
        yield SourceInput(name, meta, given[word] if word else "", kind == "tensor_constant")

    def _outputs(self) -> Iterator[SourceOutput]:
        specs = [_only(spec) for spec in self.signature["output_specs"]]
        names = iter(output_names(self._leaves(), sum(kind == "user_output" for kind, _ in specs)))
        for kind, given in specs:
            if kind == "user_output":
                yield SourceOutput(self._argument(given["arg"]), next(names))
            elif kind == "buffer_mutation":
                value = ValueName(given["arg"]["name"])
                yield SourceOutput(value, given["buffer_name"], is_update=True)
            else:
                message = f"the program has a `{kind}`; a spec returns results and keeps buffers"
                raise DiagnosticError(Diagnostic("import-unsupported", message))

    def _leaves(self) -> list[tuple[str, ...]]:
        """The keys that lead to each leaf of what the model returns, as far as they are known."""
        calls = self.program["graph_module"].get("module_call_graph") or [{}]
        signature = calls[0].get("signature") or {}
        text = signature.get("out_spec", "")
        return list(_leaves(json.loads(text)[1])) if text else []

    def _symbols(self, inputs: Sequence[SourceInput]) -> dict[str, SourceSymbol]:
        examples: dict[str, int] = {}
        for each in inputs:
            if isinstance(each.meta, TensorMeta) and not each.path:
                for size in self.graph["tensor_values"][each.name]["sizes"]:
                    expression = size.get("as_expr")
                    symbol = single_symbol(expression["expr_str"]) if expression else None
                    if symbol and expression.get("hint"):
                        examples[symbol] = expression["hint"]["as_int"]
        return {
            symbol: SourceSymbol(
                low=_bound(bounds["min_val"]) or 0,
                high=_bound(bounds["max_val"]),
                example=examples.get(symbol),
            )
            for symbol, bounds in self.program["range_constraints"].items()
        }

    def _weight(self, path: str, stated: Meta) -> SourceWeight:
        if path not in self.weights:
            raise malformed(self.archive.path, f"there is no data of the weight `{path}`")
        folder, entry = self.weights[path]
        if entry["use_pickle"]:
            message = f"the weight `{path}` of `{self.archive.path}` is pickled"
            hint = "save a program whose weights are plain tensors"
            raise DiagnosticError(Diagnostic("import-pickled", message, hint=hint))
        meta, file = entry["tensor_meta"], f"{folder}/{entry['path_name']}"
        kind = BY_TORCH.get(_DTYPES[meta["dtype"]])
        sizes, strides = ([each["as_int"] for each in meta[key]] for key in ("sizes", "strides"))
        start, size = self.archive.octets(self.archive.member(file))
        if kind is None:  # no dtype of ours; what reads it is refused
            return SourceWeight(_no_data, path)
        offset = meta["storage_offset"]["as_int"]
        stored = StoredTensor(self.archive.path, start, size, kind, sizes, strides, offset)
        problem = stored.problem()
        if problem:
            raise malformed(self.archive.path, f"the weight `{path}` {problem}")
        if stated != TensorMeta(_DTYPES[meta["dtype"]], sizes):
            raise malformed(self.archive.path, f"the weight `{path}` has two types")
        identity = (file, kind.name, *sizes, "by", *strides, offset)
        return SourceWeight(stored.load, identity if prod(sizes) else path)

    def _nodes(self, graph: Mapping[str, Any]) -> Iterator[SourceNode]:
        for node in graph["nodes"]:
            domain, operator = _target(node["target"])
            outputs = node["outputs"]
            listed = [value for kind, value in map(_only, outputs) if kind == "as_tensors"]
            is_list = len(outputs) == 1 and len(listed) == 1
            results = listed[0] if is_list else [_only(each)[1] for each in outputs]
            arguments = [(e["name"], self._argument(e["arg"])) for e in node["inputs"]]
            names = positional_parameters(operator, len(arguments))
            plain = operator.partition(".")[0]
            yield SourceNode(
                name=node.get("name") or "",
                domain=domain,
                operator=operator,
                arguments={e or n: value for n, (e, value) in zip(names, arguments, strict=True)},
                results=[*self._results(graph, results)],
                is_list=is_list and domain != HIGHER_ORDER,
                meta=_node_meta(node["metadata"]),
                mutates=plain.endswith("_") and not plain.endswith("__"),
            )

    def _results(
        self, graph: Mapping[str, Any], results: Sequence[Any]
    ) -> Iterator[tuple[str, Meta]]:
        for each in results:
            name = (each.get("name") or each.get("as_name")) if isinstance(each, dict) else None
            yield ("", None) if name is None else (name, self._meta(graph, name))

    def _meta(self, graph: Mapping[str, Any], name: str) -> Meta:
        if name in graph["tensor_values"]:
            meta = graph["tensor_values"][name]
            return TensorMeta(_DTYPES[meta["dtype"]], [*map(_size, meta["sizes"])])
        for kind in ("sym_int_values", "sym_bool_values", "sym_float_values"):
            if name in graph.get(kind, {}):
                form, value = _only(graph[kind][name])
                return SizeMeta(value["expr_str"]) if form == "as_expr" else _number(value)
        raise KeyError(name)

    def _argument(self, given: Mapping[str, Any]) -> Any:
        kind, value = _only(given)
        if kind in _PLAIN:
            return value
        match kind:
            case "as_tensor" | "as_sym_int" | "as_sym_bool" | "as_sym_float":
                return _reference(value)
            case "as_tensors" | "as_sym_ints" | "as_sym_bools" | "as_sym_floats":
                return [_reference(each) for each in value]
            case "as_optional_tensors" | "as_nested_tensors":
                nested = kind == "as_nested_tensors"
                return [
                    [_reference(e) for e in each] if nested else self._argument(each)
                    for each in value
                ]
            case "as_optional_tensor":
                return self._argument(value)
            case "as_none":
                return None
            case "as_float":
                return _number(value)
            case "as_floats":
                return [_number(each) for each in value]
            case "as_scalar_type":
                return BY_TORCH.get(_DTYPES[value], _DTYPES[value])
            case "as_device":
                return value["type"]
            case "as_memory_format":
                return _MEMORY_FORMATS.get(value, "preserve_format")
            case "as_layout":
                return "strided" if value == 7 else f"layout {value}"
            case "as_complex":
                return complex(value["real"], value["imag"])
            case "as_graph":
                return self._inner(value["graph"])
        raise ValueError(f"arguments of the kind `{kind}` are not known")

    def _inner(self, graph: Mapping[str, Any]) -> SourceGraph:
        names = [
            value.get("name") or value.get("as_name") for _, value in map(_only, graph["inputs"])
        ]
        inputs = [(name, self._meta(graph, name)) for name in names]
        outputs = [self._argument(each) for each in graph["outputs"]]
        return SourceGraph(inputs, list(self._nodes(graph)), outputs)


def _only(union: Mapping[str, Any]) -> tuple[str, Any]:
    """The one entry of a union."""
    ((kind, value),) = union.items()
    return kind, value


def _reference(given: Mapping[str, Any]) -> Any:
    """A value by its name, or a number."""
    if "as_name" in given or "name" in given:
        return ValueName(given.get("as_name") or given["name"])
    return _number(_only(given)[1])


def _number(value: Any) -> Any:
    return _NUMBERS[value] if isinstance(value, str) else value


def _size(given: Mapping[str, Any]) -> int | str:
    text: int | str = given["as_expr"]["expr_str"] if "as_expr" in given else given["as_int"]
    return text


def _bound(value: int | None) -> int | None:
    if value is not None and type(value) is not int:
        raise TypeError(f"`{value}` is no bound of a size")
    return value if value is not None and value < _UNBOUNDED else None


def _target(text: str) -> tuple[str, str]:
    """The namespace and the name of `torch.ops.aten.add.Tensor`."""
    if not text.startswith("torch.ops."):
        return "python", text
    domain, _, name = text.removeprefix("torch.ops.").partition(".")
    return domain, name.removesuffix(".default")


def _node_meta(metadata: Mapping[str, str]) -> NodeMeta:
    if not all(isinstance(each, str) for each in metadata.values()):
        raise TypeError("the metadata of a node are not strings")
    calls = [each.split(",", 2) for each in metadata.get("nn_module_stack", "").split(";")]
    stack = [(each[0], each[1], each[2]) for each in calls if len(each) == 3]
    return NodeMeta(stack, metadata.get("stack_trace", ""))


def _leaves(spec: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if spec["type"] is None:
        yield path
        return
    children = spec["children_spec"]
    context = json.loads(spec["context"]) if spec["context"] else None
    for key, child in zip(leaf_keys(context, len(children)), children, strict=True):
        yield from _leaves(child, (*path, key))


def _no_data() -> NoReturn:
    raise ValueError("a dtype that tripybuild has not")
