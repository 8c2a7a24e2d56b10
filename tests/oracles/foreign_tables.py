"""Where `schema/foreign/*.txt` come from: prints the table of `aten` (torch) or `onnx` (onnx).

python tests/oracles/foreign_tables.py aten > tripybuild/schema/foreign/aten.txt
"""

import sys

import numpy as np

# Of the names that begin with `_`, those that exported programs hold.
CORE = ("_to_copy", "_native_batch_norm_legit_no_training", "_softmax", "_log_softmax")


def aten():
    """Every operator of ATen that gives new tensors, and may be called by its name."""
    import torch  # noqa: PLC0415  # one table needs one package

    schemas = {str(s).partition("(")[0]: s for s in torch._C._jit_get_all_schemas()}
    names = (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    chosen = (schemas[name] for name in names if name in schemas)
    return sorted(_aten_line(schema) for schema in chosen if _is_functional(schema))


def _is_functional(schema):
    writes = any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
    word = schema.name.partition("::")[2]
    kinds = ("backward", "_copy", "cudnn", "miopen", "mkldnn", "_out")
    odd = word.startswith(("_", "quantized")) or any(kind in word for kind in kinds)
    tensors = any("Tensor" in str(r.type) for r in schema.returns)
    usual = not odd or word in CORE
    return not writes and usual and (tensors or word in {"equal", "allclose"})


def _aten_line(schema):
    name = schema.name.partition("::")[2]
    by_position = [_optional(a) for a in schema.arguments if not a.kwarg_only]
    by_name = [_optional(a) for a in schema.arguments if a.kwarg_only]
    overload = f".{schema.overload_name}" if schema.overload_name else ""
    several = any("List[Tensor]" in str(r.type) for r in schema.returns)
    count = "*" if several else str(len(schema.returns))
    return _line(name + overload, by_position, by_name, count)


def _optional(argument):
    default = _default(argument.default_value) if argument.has_default_value() else ""
    return argument.name + default


def _default(value):
    return "?" if value is None else f"={value!r}"


def onnx():
    """Every operator of ONNX's own domain, in its newest version."""
    import onnx as package  # noqa: PLC0415  # the same

    newest = {}
    for schema in package.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            kept = newest.get(schema.name)
            if kept is None or kept.since_version < schema.since_version:
                newest[schema.name] = schema
    return sorted(_onnx_line(schema) for schema in newest.values())


def _onnx_line(schema):
    option = type(schema.inputs[0].option) if schema.inputs else None
    inputs = []
    for each in schema.inputs:
        if each.option == option.Variadic:
            inputs.append(f"*{each.name}")
        else:
            inputs.append(each.name + ("?" if each.option == option.Optional else ""))
    attributes = [n + _attribute_default(a) for n, a in sorted(schema.attributes.items())]
    several = any("Variadic" in str(o.option) for o in schema.outputs)
    return _line(schema.name, inputs, attributes, "*" if several else str(len(schema.outputs)))


def _attribute_default(attribute):
    import onnx  # noqa: PLC0415  # the same

    if attribute.required or not attribute.default_value.name:
        return "" if attribute.required else "?"
    value = onnx.helper.get_attribute_value(attribute.default_value)
    if isinstance(value, float):
        return _default(float(str(np.float32(value))))  # files hold float32
    texts = [v.decode() if isinstance(v, bytes) else v for v in np.atleast_1d(value).tolist()]
    return _default(texts if isinstance(value, list) else texts[0])


def _line(name, by_position, by_name, outputs):
    behind = f"; {', '.join(by_name)}" if by_name else ""
    return f"{name}({', '.join(by_position)}{behind}) -> {outputs}"


if __name__ == "__main__":
    sys.stdout.write("\n".join({"aten": aten, "onnx": onnx}[sys.argv[1]]()) + "\n")
