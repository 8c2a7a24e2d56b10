"""How an operator's name becomes the name of a class. Generated code and its readers agree here."""

# Names that generated modules import: a class of such a name would hide what it is made with.
TAKEN = frozenset({"Any", "Index", "Law", "Region", "Self", "Sequence", "Size", "Value", "Wanted"})

# What every operation has: no argument can be called so.
RESERVED = frozenset(
    {
        "arguments", "bodies", "captured", "declaration", "deferred", "gives", "giving", "infer",
        "location", "number", "operator", "outputs", "placed", "reads", "rebuilt", "region_fields",
        "serial", "tensor_fields",
    }
)  # fmt: skip

# The parts of a generated package: nothing declared can be called so beside them.
LAYERS = frozenset(
    {
        *("config", "decompositions", "lowering", "modules", "ops", "others", "references"),
        *("tensor", "trace", "types"),
    }
)

# The field of an operation that holds what its regions read from outside.
CAPTURED = "captured"


def class_name(operator: str) -> str:
    """`grid_sample` -> `GridSample`; `any` -> `AnyOperation`, since `Any` means something else."""
    name = "".join(part[:1].upper() + part[1:] for part in operator.split("_"))
    return f"{name}Operation" if name in TAKEN else name
