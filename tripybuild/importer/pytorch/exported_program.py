"""Exported programs, as `torch.export.export` gives them, as foreign programs."""

import warnings
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from functools import partial
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import ForeignProgram
from tripybuild.importer.pytorch.assembly import assemble
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
from tripybuild.importer.reading.readings import Readings
from tripybuild.packages.builtin import builtin_registry
from tripybuild.schema.load import Registry

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram
    from torch.fx import Graph, GraphModule, Node


def read_exported_program(program: "ExportedProgram", name: str | None = None) -> ForeignProgram:
    """Read an exported program, whose operators are taken as they are.

    Args:
        program: The program, decomposed as far as is wanted; see `decompose`.
        name: For the spec's `model:`; by default that of the module's class.

    Raises:
        DiagnosticError: With all that has no counterpart in a spec.
    """
    inputs = list(_inputs(program))
    stacks = (stack for node in program.graph.nodes for stack in _stack(node))
    read = assemble(
        SourceProgram(
            name=name or model_name(stacks),
            inputs=inputs,
            nodes=_nodes(program.graph_module),
            outputs=list(_outputs(program)),
            symbols=_symbols(program),
            weights={each.path: _weight(program, each.path) for each in inputs if each.path},
        )
    )
    read.examples = _examples(program, read)
    if read.examples or not read.graph.inputs:
        read.run = partial(_run, program, read)
    read.break_up = partial(_broken_up, program, frozenset())
    return read


def _broken_up(
    program: "ExportedProgram", done: frozenset[str], operators: AbstractSet[str]
) -> ForeignProgram | None:
    """A program whose calls of some operators are what PyTorch itself says that they are."""
    from torch._decomp import decomposition_table  # noqa: PLC0415 - heavy

    wanted = operators - done
    graphs = [each.graph for each in program.graph_module.modules() if hasattr(each, "graph")]
    called = {node.target for graph in graphs for node in graph.nodes if _is_of(node, wanted)}
    table = {each: decomposition_table[each] for each in called if each in decomposition_table}
    if not table:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # of what PyTorch itself calls
            simpler = program.run_decompositions(table)
    except Exception:  # noqa: BLE001 - it raises anything for what is made of its own primitives
        return None
    read = read_exported_program(simpler)
    read.break_up = partial(_broken_up, simpler, done | operators)
    return read


def _is_of(node: "Node", operators: AbstractSet[str]) -> bool:
    """Whether a node calls one of ATen's operators."""
    has_schema = node.op == "call_function" and hasattr(node.target, "_schema")
    return has_schema and _overload_name(node.target) in {("aten", each) for each in operators}


def _run(program: "ExportedProgram", read: ForeignProgram) -> dict[str, np.ndarray[Any, Any]]:
    """What a program gives for the inputs that it was exported with."""
    args, kwargs = program.example_inputs or ((), {})
    with warnings.catch_warnings(action="ignore"):  # of what PyTorch itself calls
        results = program.module()(*args, **kwargs)
    return outputs_of(results, read)


def outputs_of(results: Any, read: ForeignProgram) -> dict[str, np.ndarray[Any, Any]]:
    """What a model returned, by the names of the outputs."""
    import torch  # noqa: PLC0415 - where there is a program it is there
    from torch.utils._pytree import tree_leaves  # noqa: PLC0415 - the same

    tensors = [each for each in tree_leaves(results) if isinstance(each, torch.Tensor)]
    names = [name for name, _ in read.graph.outputs]
    return {name: to_numpy(each) for name, each in zip(names, tensors, strict=True)}


def decompose(program: "ExportedProgram", registry: Registry | None = None) -> "ExportedProgram":
    """Decompose a program into what a registry can read; what it can read is kept whole.

    Args:
        program: The program.
        registry: Operators whose aliases are read; by default the built-in ones.
    """
    from torch.export import default_decompositions  # noqa: PLC0415 - heavy

    known = builtin_registry() if registry is None else registry
    readable = Readings(known, "aten").names
    table = default_decompositions()
    for overload in list(table):
        if _overload_name(overload)[1] in readable:
            del table[overload]
    with warnings.catch_warnings(action="ignore"):  # of what PyTorch itself calls
        decomposed: ExportedProgram = program.run_decompositions(table)
    return decomposed


def _inputs(program: "ExportedProgram") -> Iterator[SourceInput]:
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        kind = spec.kind.name
        meta = _meta(placeholders[spec.arg.name].meta.get("val"))
        if kind == "USER_INPUT":
            yield SourceInput(spec.arg.name, meta)
        elif spec.target is not None and isinstance(meta, TensorMeta):
            yield SourceInput(spec.arg.name, meta, spec.target, kind == "CONSTANT_TENSOR")
        else:
            message = f"`{spec.target or spec.arg.name}` is an object of a class, and no tensor"
            raise DiagnosticError(Diagnostic("import-unsupported", message))


def _outputs(program: "ExportedProgram") -> Iterator[SourceOutput]:
    specs = program.graph_signature.output_specs
    values = next(node for node in program.graph.nodes if node.op == "output").args[0]
    returned = sum(spec.kind.name == "USER_OUTPUT" for spec in specs)
    names = iter(output_names(list(_leaves(program.call_spec.out_spec)), returned))
    for spec, value in zip(specs, values, strict=True):
        given = _argument(value, program.graph_module)
        if spec.kind.name == "USER_OUTPUT":
            yield SourceOutput(given, next(names))
        elif spec.kind.name == "BUFFER_MUTATION":
            yield SourceOutput(given, spec.target or "", is_update=True)
        else:
            what = f"`{spec.target}` is changed by the program" if spec.target else "a loss"
            message = f"{what}, and a spec returns its results and keeps buffers"
            raise DiagnosticError(Diagnostic("import-unsupported", message))


def _leaves(spec: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys that lead to each leaf of what the model returns."""
    if spec is None or spec.is_leaf():
        yield path
        return
    children, context = spec.children(), spec.context
    fields = getattr(context, "_fields", context)
    for key, child in zip(leaf_keys(fields, len(children)), children, strict=True):
        yield from _leaves(child, (*path, key))


def _symbols(program: "ExportedProgram") -> dict[str, SourceSymbol]:
    """The symbols of the inputs' shapes, with the names of their `Dim`s."""
    names, examples = _dimension_names(program), {}
    for node in program.graph.nodes:
        if node.op == "placeholder" and hasattr(node.meta.get("val"), "shape"):
            for size in node.meta["val"].shape:
                if not isinstance(size, int):
                    examples[str(size.node.expr)] = size.node.hint
    found = {}
    for symbol, range in program.range_constraints.items():
        text = str(symbol)
        low, high = (_bound(each) for each in (range.lower, range.upper))
        found[text] = SourceSymbol(names.get(text, ""), low or 0, high, examples.get(text))
    return found


def _bound(given: Any) -> int | None:
    """A bound of sizes; None where it is infinite."""
    text = str(given)
    return int(text) if text.lstrip("-").isdigit() and int(text) < 1 << 62 else None


def _dimension_names(program: "ExportedProgram") -> dict[str, str]:
    """The names of `Dim`s by symbol, as far as the environment of the sizes remembers them."""
    names: dict[str, str] = {}
    for node in program.graph.nodes:
        shape = getattr(node.meta.get("val"), "shape", ()) if node.op == "placeholder" else ()
        for at, size in enumerate(shape):
            if isinstance(size, int):
                continue
            known = getattr(size.node.shape_env, "source_name_to_debug_name", {})
            name = known.get(f"L['{node.name}'].size()[{at}]", "")
            if name.isidentifier() and str(size.node.expr).isidentifier():
                names.setdefault(str(size.node.expr), name)
    return names


def _weight(program: "ExportedProgram", path: str) -> SourceWeight:
    held = program.state_dict if path in program.state_dict else program.constants
    tensor = held[path]
    key = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.data_ptr())
    return SourceWeight(partial(to_numpy, tensor), key if tensor.numel() else path)


def to_numpy(tensor: "torch.Tensor") -> np.ndarray[Any, Any]:
    """Give a tensor's data; it shares memory where it can."""
    import torch  # noqa: PLC0415 - where there is a tensor it is there

    plain = tensor.detach().cpu().contiguous()
    found = BY_TORCH[str(plain.dtype).removeprefix("torch.")]
    try:
        array: np.ndarray[Any, Any] = plain.numpy()
    except TypeError:  # NumPy's dtypes lack it; that of `ml_dtypes` has the same bytes
        bits = {1: torch.uint8, 2: torch.int16}[plain.element_size()]
        return plain.view(bits).numpy().view(found.numpy)
    return array


def _examples(program: "ExportedProgram", read: ForeignProgram) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors that the program was exported with, by input."""
    import torch  # noqa: PLC0415 - heavy, and an extra
    from torch.utils._pytree import tree_leaves  # noqa: PLC0415 - heavy

    if program.example_inputs is None:
        return {}
    args, kwargs = program.example_inputs
    ordered = _in_order(kwargs, program)
    specs = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    leaves = tree_leaves((args, ordered), is_leaf=lambda each: each is None)
    tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
    inputs = read.graph.inputs  # in the same order, and not always by the names of placeholders
    if len(leaves) != len(specs) or len(tensors) != len(inputs):
        return {}
    known = zip(inputs, tensors, strict=True)
    return {each.name: to_numpy(tensor) for each, tensor in known if each.type is not None}


def _in_order(kwargs: Mapping[str, Any], program: "ExportedProgram") -> dict[str, Any]:
    """Arguments by name in the order in which the program flattens them."""
    spec = program.call_spec.in_spec
    names = spec.children()[1].context if spec is not None and len(spec.children()) == 2 else kwargs
    return {name: kwargs[name] for name in names if name in kwargs}


def _nodes(module: "GraphModule") -> Iterator[SourceNode]:
    for node in module.graph.nodes:
        if node.op == "call_function" and not _takes_one(node):
            yield _node(node, module)


def _takes_one(node: "Node") -> bool:
    """Whether a node takes one of several results."""
    return node.target is getitem


def _node(node: "Node", module: "GraphModule") -> SourceNode:
    domain, operator = _target(node)
    schema = getattr(node.target, "_schema", None)
    value = node.meta.get("val")
    returns = schema.returns if schema is not None else ()
    if isinstance(value, list | tuple):
        results = _results(node, value)
    else:
        results = [] if value is None else [(node.name, _meta(value))]
    return SourceNode(
        name=node.name,
        domain=domain,
        operator=operator,
        arguments=dict(_arguments(node, module, schema)),
        results=results,
        is_list=isinstance(value, list | tuple) and len(returns) == 1,
        meta=NodeMeta(list(_stack(node)), node.meta.get("stack_trace") or ""),
        mutates=schema is not None and schema.is_mutable,
    )


def _target(node: "Node") -> tuple[str, str]:
    """The namespace and the name of what is called."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        name = getattr(node.target, "__name__", None) or str(node.target)
        return HIGHER_ORDER if any(map(_is_graph, node.args)) else "python", name
    return _overload_name(node.target)


def _overload_name(overload: Any) -> tuple[str, str]:
    """The namespace and the name of an operator's overload."""
    schema = overload._schema  # noqa: SLF001 - PyTorch's own tools read it, and nothing else has it
    domain, _, name = schema.name.partition("::")
    last = schema.overload_name
    return domain, f"{name}.{last}" if last not in ("", "default") else name


def _arguments(node: "Node", module: "GraphModule", schema: Any) -> Iterator[tuple[str, Any]]:
    """What is given by position or by name, by the parameters of the schema."""
    if schema is not None:
        parameters = [each.name for each in schema.arguments]
    else:
        parameters = positional_parameters(_target(node)[1], len(node.args))
    for name, given in [*zip(parameters, node.args, strict=False), *node.kwargs.items()]:
        yield name, _argument(given, module)


def _argument(given: Any, module: "GraphModule") -> Any:
    import torch  # noqa: PLC0415 - where there is a program it is there

    match given:
        case torch.fx.Node(op="get_attr"):
            return _inner(getattr(module, str(given.target)), given.name)
        case torch.fx.Node():
            return ValueName(_name(given))
        case list() | tuple():
            return [_argument(each, module) for each in given]
        case torch.dtype():
            name = str(given).removeprefix("torch.")
            return BY_TORCH.get(name, name)
        case torch.device() | torch.layout() | torch.memory_format():
            return str(given).removeprefix("torch.")
    return given


def _inner(module: Any, name: str) -> SourceGraph:
    """The graph of control flow."""
    if not hasattr(module, "graph"):
        message = f"`{name}` is a tensor that only a part of the graph has"
        raise DiagnosticError(Diagnostic("import-unsupported", message))
    graph: Graph = module.graph
    inputs = [(e.name, _meta(e.meta.get("val"))) for e in graph.nodes if e.op == "placeholder"]
    outputs = _argument(next(e for e in graph.nodes if e.op == "output").args[0], module)
    listed = outputs if isinstance(outputs, list) else [outputs]
    return SourceGraph(inputs, _nodes(module), listed)


def _is_graph(given: Any) -> bool:
    return getattr(given, "op", "") == "get_attr"


def _results(node: "Node", values: Sequence[Any]) -> list[tuple[str, Meta]]:
    """Each result by the name of the first node that takes it from the others."""
    names: dict[int, str] = {}
    for user in node.users:
        if _takes_one(user):
            names.setdefault(user.args[1], user.name)  # type: ignore[arg-type]
    return [(names.get(at, ""), _meta(value)) for at, value in enumerate(values)]


def _name(node: "Node") -> str:
    """The name of a value: of those that take the same result, the first's."""
    if node.op == "call_function" and _takes_one(node):
        source, at = node.args
        return next(
            user.name
            for user in source.users  # type: ignore[union-attr]
            if _takes_one(user) and user.args[1] == at
        )
    return node.name


def _meta(value: Any) -> Meta:
    """What the metadata of a node says of its value."""
    import torch  # noqa: PLC0415 - where there is a program it is there

    match value:
        case torch.Tensor():
            return TensorMeta(str(value.dtype).removeprefix("torch."), [*map(_size, value.shape)])
        case torch.SymInt() | torch.SymFloat() | torch.SymBool():
            return SizeMeta(str(value.node.expr))
        case bool() | int() | float():
            return value
    return None


def _size(size: Any) -> int | str:
    return size if isinstance(size, int) else str(size.node.expr)


def _stack(node: "Node") -> Iterator[tuple[str, str, str]]:
    """The modules that a node stands in, outermost first: key, path and name of the class."""
    for key, (path, kind) in (node.meta.get("nn_module_stack") or {}).items():
        yield key, path, kind if isinstance(kind, str) else kind.__name__
