"""Where `tripybuild/schema/foreign/aten.txt` comes from: ATen's schemas, from PyTorch.

python tests/oracles/aten_operators.py > tripybuild/schema/foreign/aten.txt
"""

import inspect
import sys

# Those of odd names that exported programs hold beside the core operators.
KEPT = (
    *("_native_batch_norm_legit_no_training", "_scaled_dot_product_flash_attention_for_cpu"),
    *("_unsafe_index", "_unsafe_view", "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa"),
    *("_weight_norm", "_weight_norm_interface", "lift_fresh_copy"),
    *("_embedding_bag_forward_only", "_upsample_nearest_exact2d", "__lshift__", "__rshift__"),
)
# Operators that take graphs; they have no schema.
HIGHER_ORDER = ("cond", "scan", "while_loop")


def lines():
    """Every operator of ATen that gives new tensors, and may be called by its name; all of core."""
    import torch  # noqa: PLC0415  # tests that need none of it import this

    schemas = {str(s).partition("(")[0]: s for s in torch._C._jit_get_all_schemas()}
    names = (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    chosen = [(name, schemas[name]) for name in names if name in schemas]
    lines = [_aten_line(s) for name, s in chosen if _is_core(torch, name) or _is_functional(s)]
    return sorted([*lines, *(_higher_order_line(torch, name) for name in HIGHER_ORDER)])


def _is_core(torch, name):
    word, _, overload = name.removeprefix("aten::").partition(".")
    operator = getattr(getattr(torch.ops.aten, word), overload or "default", None)
    return operator is not None and torch.Tag.core in operator.tags


def _higher_order_line(torch, name):
    call = type(getattr(torch.ops.higher_order, name)).__call__
    _, *parameters = inspect.signature(call).parameters.values()
    return _line(name, [_signature_word(each) for each in parameters], [], "*")


def _signature_word(parameter):
    empty = parameter.default is parameter.empty
    given = "" if empty else "=[]" if parameter.default == () else _default(parameter.default)
    return parameter.name + given


def _is_functional(schema):
    writes = any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
    word = schema.name.partition("::")[2]
    kinds = ("backward", "_copy", "cudnn", "miopen", "mkldnn", "_out")
    odd = word.startswith(("_", "quantized")) or any(kind in word for kind in kinds)
    tensors = any("Tensor" in str(r.type) for r in schema.returns)
    usual = not odd or word in KEPT
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


def _line(name, by_position, by_name, outputs):
    behind = f"; {', '.join(by_name)}" if by_name else ""
    return f"{name}({', '.join(by_position)}{behind}) -> {outputs}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines())
