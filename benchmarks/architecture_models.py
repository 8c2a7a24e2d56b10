"""The models of `architectures.yaml`: made with random weights, and exported by PyTorch."""

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "benchmarks" / "architectures.yaml"
sys.path.append(str(ROOT / "tests"))

Values = Mapping[str, Any]
# What outputs may vary by at least, relative to their size: else the comparison proves nothing.
CONSTANT = 1e-3
# What stands for a picture's patches in a text, and how many there are.
IMAGE_TOKEN, IMAGE_TOKENS = 98, 16
_INPUT = re.compile(
    r"(?P<dtype>\w+)\[(?P<shape>[^\]]*)\]"
    r"(?: below (?P<below>\d+)| (?P<word>\w+)| = (?P<value>\d+))?"
)


class UnusableError(Exception):
    """Says why a model, as it is listed, proves nothing."""


@dataclass(frozen=True)
class Architecture:
    """An entry of the list, with what its family says.

    Attributes:
        name: Its name in the list.
        family: The name of its family.
        entry: The keys of the entry, over those of the family.
    """

    name: str
    family: str
    entry: Values

    @property
    def sizes(self) -> dict[str, int | list[int]]:
        """Each size that inputs read: one value, or one for each comparison."""
        return dict(self.entry["sizes"])

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """The range of each dynamic size."""
        known = self.entry["ranges"]
        return {n: tuple(known[n]) for n, v in self.sizes.items() if isinstance(v, list)}

    def module(self) -> Any:
        """The model with random weights, the same ones each time."""
        torch = import_module("torch")
        torch.manual_seed(7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind = find(f"{self.entry['library']}.{self.entry['class']}")
            config = self._resolve(self.entry.get("config", {}))
            configuration = getattr(kind, "config_class", None)
            module = kind(**config) if configuration is None else kind(configuration(**config))
        if "experts" in self.entry:
            module.set_experts_implementation(self.entry["experts"])
        with torch.no_grad():
            randomize(torch, module)
        module.eval()
        return module

    def _resolve(self, value: Any) -> Any:
        """Values with what names of a library stand for."""
        if isinstance(value, Mapping):
            found = {name: self._resolve(each) for name, each in value.items()}
            call = found.pop("call", None)
            return found if call is None else call(**found)
        is_name = isinstance(value, str) and re.fullmatch(r"[a-z]\w*(\.\w+)+", value)
        return find(f"{self.entry['library']}.{value}") if is_name else value

    def inputs(self, at: int) -> dict[str, Any]:
        """Random inputs for one of both comparisons."""
        torch = import_module("torch")
        generator = torch.Generator().manual_seed(11 + at)
        sizes = {n: v[at] if isinstance(v, list) else v for n, v in self.sizes.items()}
        return {
            name: _tensor(torch, generator, text, sizes)
            for name, text in self.entry["inputs"].items()
        }

    def export(self, module: Any) -> Any:
        """The exported program, whose dynamic sizes are those of the list."""
        torch = import_module("torch")
        inputs = self.inputs(0)
        dims = {n: torch.export.Dim(n, min=a, max=b) for n, (a, b) in self.ranges.items()}
        shapes = {
            name: {i: dims[n] for i, n in enumerate(_shape(text)) if n in dims}
            for name, text in self.entry["inputs"].items()
        }
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.export.export(
                module,
                (),
                inputs,
                dynamic_shapes=shapes,
                strict=False,
                prefer_deferred_runtime_asserts_over_guards=True,
            )

    def expect(self, module: Any, at: int) -> list[Any]:
        """What PyTorch gives: the tensors of the model's outputs, in order."""
        torch = import_module("torch")
        with torch.no_grad():
            found = import_module("torch.utils._pytree").tree_leaves(module(**self.inputs(at)))
        results = [each.numpy() for each in found if isinstance(each, torch.Tensor)]
        constant = self.entry.get("constant", ())
        for index, each in enumerate(results):
            _check(index, each, may_be_constant=index in constant)
        return results


def architectures() -> Iterator[Architecture]:
    """The entries of the list, in its order."""
    text = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    for family, default in text["families"].items():
        models = default.pop("models")
        for name, given in models.items():
            own = {"class": given} if isinstance(given, str) else given
            entry = _merged(_merged({"ranges": text["ranges"]}, default), own)
            yield Architecture(name, family, entry)


def _merged(default: Values, own: Values) -> dict[str, Any]:
    """The keys of both; maps are merged, and what is `absent` is not there."""
    found = dict(default)
    for name, value in own.items():
        is_map = isinstance(value, Mapping) and isinstance(found.get(name), Mapping)
        found[name] = {**found[name], **value} if is_map else value
    for name in ("config", "inputs", "sizes"):
        found[name] = {n: v for n, v in found.get(name, {}).items() if v != "absent"}
    return found


@cache
def find(name: str) -> Any:
    """A class or function of a library by its dotted name."""
    return import_module("oracles.libraries").find(name)


def randomize(torch: Any, module: Any) -> None:
    """Weights at which values keep their scale from layer to layer, so that nothing is hidden."""
    generator = torch.Generator().manual_seed(3)
    for parameter in module.parameters():
        if not parameter.is_floating_point():
            continue
        noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
        if parameter.ndim > 1:
            fan_in = parameter.numel() / parameter.shape[0]
            parameter.copy_(noise / fan_in**0.5)
        else:
            parameter.add_(0.1 * noise)
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0, 0.1, generator=generator)
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5, generator=generator)


def _shape(text: str) -> list[str]:
    match = _INPUT.fullmatch(text)
    assert match is not None, text
    return [each.strip() for each in match["shape"].split(",") if each.strip()]


def _tensor(torch: Any, generator: Any, text: str, sizes: Mapping[str, int]) -> Any:
    match = _INPUT.fullmatch(text)
    assert match is not None, text
    dtype = getattr(torch, match["dtype"])
    shape = [int(each) if each.isdigit() else sizes[each] for each in _shape(text)]
    if match["value"] is not None:
        return torch.full(shape, int(match["value"]), dtype=dtype)
    if match["below"] is not None:
        return torch.randint(3, int(match["below"]), shape, generator=generator, dtype=dtype)
    if match["word"] == "mask":
        made = torch.ones(shape, dtype=dtype)
        made[0, -2:] = 0
        return made
    if match["word"] == "tokens":
        made = torch.randint(3, IMAGE_TOKEN, shape, generator=generator, dtype=dtype)
        made[:, 1 : 1 + IMAGE_TOKENS] = IMAGE_TOKEN
        return made
    return torch.randn(shape, generator=generator, dtype=dtype)


def _check(index: int, found: Any, *, may_be_constant: bool) -> None:
    """Refuse outputs that prove nothing."""
    numpy = import_module("numpy")
    if not numpy.isfinite(found).all():
        raise UnusableError(f"output {index} is not finite")
    if found.dtype.kind == "f" and found.size > 1 and not may_be_constant:
        largest = float(numpy.abs(found).max())
        if float(found.std()) <= CONSTANT * largest:
            raise UnusableError(f"output {index} is constant")
