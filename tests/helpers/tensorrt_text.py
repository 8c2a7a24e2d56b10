"""Lines of the tensorrt and trtx dialects for tests: as they are printed, and what is wrong."""

from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.mlir.writing.attribute_writer import AttributeWriter


def attribute_text(attribute):
    """The text of an attribute or a type."""
    writer = AttributeWriter()
    writer.print_attribute(attribute)
    return writer.take_text()


def module(lines, **types):
    """The module of a function that has these lines; the names that they use are arguments."""
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
    return parser.parse(f"func.func @f({arguments}) {{\n{lines}\nreturn\n}}")


def printed(lines, **types):
    """The same lines, read and printed, with the names of arguments that they had."""
    made = module(lines, **types)
    assert verifier.problems(made) == []
    text = printer.text(made)
    assert printer.text(parser.parse(text)) == text
    assert printer.text(parser.parse(printer.text(made, generic=True))) == text
    body = text[text.index(" {\n    ") + 3 : text.rindex("    return\n")]
    for index, name in reversed([*enumerate(types)]):
        body = body.replace(f"%arg{index}", f"%{name}")
    return "\n".join(line[4:] for line in body.splitlines())


def messages(lines, **types):
    """What MLIR says is wrong with the lines."""
    return [each.message for each in verifier.problems(module(lines, **types))]


def places(lines, **types):
    """The lines (from 1) that problems are shown at."""
    spans = [each.span for each in verifier.problems(module(lines, **types))]
    return [span.line - 1 for span in spans]
