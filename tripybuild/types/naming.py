"""How an operator's name becomes the name of a class. Generated code and its readers agree here."""

# Names that generated modules import: a class of such a name would hide what it is made with.
TAKEN = frozenset({"Any", "Index", "Law", "Self", "Sequence", "Size", "Value"})


def class_name(operator: str) -> str:
    """`grid_sample` -> `GridSample`; `any` -> `AnyOperation`, since `Any` means something else."""
    name = "".join(part[:1].upper() + part[1:] for part in operator.split("_"))
    return f"{name}Operation" if name in TAKEN else name
