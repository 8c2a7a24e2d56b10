"""Naming convention: operator names to class names, shared by generated code and its readers."""

import keyword
import re

LONGEST = 80

# Names that generated modules import: a class of such a name would hide what it is made with.
TAKEN = frozenset(
    {"Any", "Index", "Law", "Region", "Self", "Sequence", "RequiredType", "Size", "Value"}
)

# What every operation has: no argument can be called so.
RESERVED = frozenset(
    {
        "arguments", "bodies", "captured", "declaration", "deferred", "infer", "location", "number",
        "operator", "outputs", "reads", "rebuild", "region_fields", "serial", "tensor_fields",
        "with_location", "with_outputs", "with_types",
    }
)  # fmt: skip

# What generated functions call by these names: no name of a declaration can hide it.
SPOKEN = frozenset({"check", "cls", "dtypes", "hlo", "np", "onnx", "require", "self", "trt"})

# What decompositions, references and lowerings call the operation.
OPERATION = "op"

# The parts of a generated package: nothing declared can be called so beside them.
LAYERS = frozenset(
    {
        *("config", "costs", "declarations", "decompositions", "lowering", "modules", "ops"),
        *("others", "references", "tensor", "trace", "types"),
    }
)

_PART = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def is_name(text: str) -> bool:
    """Whether a text can name an operator, a folder or a module of Python: `grid_sample`."""
    return bool(_PART.fullmatch(text)) and len(text) <= LONGEST and not keyword.iskeyword(text)


def is_folder(text: str) -> bool:
    """Whether a folder below a registry can become Python packages: `nn/attention`, or none."""
    return not text or all(map(is_name, text.split("/")))


# The field of an operation that holds what its regions read from outside.
CAPTURED = "captured"


def class_name(operator: str) -> str:
    """`grid_sample` -> `GridSample`; `any` -> `AnyOperation`, since `Any` means something else."""
    name = "".join(part[:1].upper() + part[1:] for part in operator.split("_"))
    return f"{name}Operation" if name in TAKEN else name


# What every module of `eager` has: nothing that a module holds can be called so.
MEMBERS = frozenset(
    {
        "forward", "initialize_dummy_parameters", "load_state_dict", "load_weights",
        "named_children", "named_parameters", "save_weights", "state_dict",
    }
)  # fmt: skip
