"""Functions of the `tensorrt` dialect for the tests of its translation, by operation."""

from pathlib import Path

A, F = "tensor<2x3xf32>", "tensor<f32>"
_FILE = Path(__file__).parent.parent / "fixtures" / "tensorrt_programs.mlir"
_PIECES = [each.partition("\n") for each in _FILE.read_text().split("// ----- ")[1:]]
PROGRAMS = {name: text for name, _, text in _PIECES}


def function(arguments, results, body, name="main"):
    """The text of a function; the last line of its body says what is returned.

    Arguments and results are types, with attributes after a blank.
    """
    *lines, last = [line.strip() for line in body.strip().split("\n")]
    text = "".join(f"  {line}\n" for line in lines)
    head = ", ".join(f"%{key}: {kind}" for key, kind in arguments.items())
    types = ", ".join(each.partition(" {")[0] for each in results)
    first = f"func.func @{name}({head}) -> ({', '.join(results)})"
    return f"{first} {{\n{text}  return {last} : {types}\n}}\n"


def unary(body, argument=A, result=None):
    """A function of `%a` whose body is one operation that gives `%0`."""
    return function({"a": argument}, [result or argument], f"%0 = {body}\n%0")
