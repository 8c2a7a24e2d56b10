"""What is said where a name is asked for that is not there."""

from collections.abc import Iterable

from tripybuild.diagnostics import suggest

# Attributes that libraries look for, to learn what an object can do.
PROTOCOL = "__"
# What other libraries call their dtypes, and the ones to take here.
DTYPES = {
    **dict.fromkeys(("float64", "double", "float"), "float32"),
    **dict.fromkeys(("int16", "uint8", "int"), "int32"),
    "half": "float16",
    "long": "int64",
}


def unknown_name(package: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error of a package's name that is not there, with the one that is nearest.

    Args:
        package: The package.
        name: What was asked for.
        known: What is there.
    """
    near = None if name.startswith(PROTOCOL) else DTYPES.get(name) or suggest(name, known)
    hint = f"; did you mean `{near}`?" if near else ""
    return AttributeError(f"module `{package}` has no attribute `{name}`{hint}")


def unknown_member(name: str, package: str, functions: Iterable[str]) -> AttributeError:
    """The error of a tensor's attribute that is not there: what is no method may be a function.

    Args:
        name: What was asked for.
        package: The package of the functions, as programs call it.
        functions: Their names.
    """
    message = f"a tensor has no attribute `{name}`"
    if name.startswith(PROTOCOL):
        return AttributeError(message)
    known = set(functions)
    if name in known:
        return AttributeError(f"{message}; call the function: `{package}.{name}(...)`")
    near = suggest(name, known)
    hint = f"; did you mean `{package}.{near}(...)`?" if near else ""
    return AttributeError(message + hint)
