"""Printer of recorded networks: `%3 = trt.softmax(%2) {axis = 1}`.

Invariant: values are numbered in the order of definition and nothing depends on identity or time,
so equal networks have equal text.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tripybuild.tensorrt.recorder.network import Layer, Network, NetworkRegion
from tripybuild.tensorrt.recorder.value import NetworkValue, spell_size
from tripybuild.types import dtypes


def print_network(network: Network) -> str:
    """The whole network, with its arguments and what it gives."""
    printer = _Printer()
    arguments = [*network.weights.items(), *network.inputs.items()]
    takes = [f"{printer.define(value)} {name}: {_type(value)}" for name, value in arguments]
    lines = [f"network({', '.join(takes)}) {{"]
    lines += printer.layers(network.layers, 1)
    gives = [f"{printer.names[value]} {name}" for name, value in network.outputs.items()]
    return "\n".join([*lines, f"  return {', '.join(gives)}".rstrip(), "}", ""])


def _type(value: NetworkValue) -> str:
    sizes = "..." if value.shape is None else ", ".join(map(spell_size, value.shape))
    return f"{value.dtype.name}[{sizes}]"


class _Printer:
    def __init__(self) -> None:
        self.names: dict[NetworkValue, str] = {}
        self.count = 0

    def define(self, *values: NetworkValue) -> str:
        """Give a number to the results of one layer."""
        number = f"%{self.count}"
        self.count += 1
        if len(values) == 1:
            self.names[values[0]] = number
            return number
        self.names.update({value: f"{number}#{i}" for i, value in enumerate(values)})
        return f"{number}:{len(values)}"

    def layers(self, layers: Iterable[Layer], depth: int) -> list[str]:
        """One line for each layer, and those of its regions."""
        lines: list[str] = []
        for layer in layers:
            call = f"trt.{layer.declaration.name}({self.operands(layer)}){self.attributes(layer)}"
            regions = [self.region(region, depth) for region in layer.regions]
            result = f"{self.define(*layer.results)} = " if layer.results else ""
            lines.append("  " * depth + result + call + " {" * bool(regions))
            for i, body in enumerate(regions):
                lines += ["  " * depth + "} {"] * bool(i) + body
            lines += ["  " * depth + "}"] * bool(regions)
        return lines

    def region(self, region: NetworkRegion, depth: int) -> list[str]:
        """What a region takes, does and gives."""
        fresh = [value for value in region.takes if value not in self.names]
        head = "  " * (depth + 1)
        lines = [f"{head}take {', '.join(map(self.define, fresh))}"] if fresh else []
        lines += self.layers(region.layers, depth + 1)
        gives = ", ".join(self.names[value] for value in region.gives)
        return [*lines, f"{head}give {gives}".rstrip()]

    def operands(self, layer: Layer) -> str:
        """The tensors: those that must be given by place, optional ones by name."""
        spelling = []
        for name, kind in layer.declaration.parameters.items():
            value = layer.arguments[name]
            if isinstance(value, NetworkValue):
                optional = kind.name != "tensor" or kind.default is None
                spelling.append(f"{name}={self.names[value]}" if optional else self.names[value])
            elif kind.name == "tensors":
                spelling.append(f"[{', '.join(self.names[each] for each in value)}]")
        return ", ".join(spelling)

    def attributes(self, layer: Layer) -> str:
        """What is not a tensor and not the default."""
        shown = {
            name: layer.arguments[name]
            for name, kind in layer.declaration.parameters.items()
            if kind.name not in ("tensor", "tensors", "region")
            and not isinstance(layer.arguments[name], NetworkValue)
            and not _is_default(layer.arguments[name], kind.default)
        }
        spelling = ", ".join(f"{name} = {_spell(value)}" for name, value in shown.items())
        return f" {{{spelling}}}" if shown else ""


def _is_default(value: Any, default: object) -> bool:
    if value is None or isinstance(value, dtypes.dtype):
        return value is default
    return type(value) is type(default) and bool(value == default)


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value.startswith("k") and value[1:].isupper() else f'"{value}"'
    if hasattr(value, "shape") and hasattr(value, "tolist"):
        return f"array{list(value.shape)}" if value.size > 16 else str(value.tolist())
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_spell(each)}' for name, each in value.items())}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_spell, value))}]"
    return str(value)
