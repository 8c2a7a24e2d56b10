"""Where the code of an operator is: one source, and one file in each layer on the same path."""

from tripybuild.schema.operator import Operator


def place(operator: Operator, prefix: str = "") -> str:
    """`nn/softmax`: what all files of an operator have in common."""
    folder = f"{operator.folder}/" if operator.folder else ""
    return f"{folder}{prefix}{operator.name}"


def module(package: str, layer: str, operator: Operator) -> str:
    """`tripyapi.trace.nn.softmax`: the dotted name of an operator's file in one layer."""
    return ".".join([package, layer, *place(operator).split("/")])
