"""Classes of PyTorch's libraries by name, loaded when they are asked for.

`make` installs torchvision into a folder of its own, which is on no other path: without the
operators that it compiles for one build of torch alone, it cannot be imported, and then neither can
`transformers`. Here it can, since nothing that is compared calls them.
"""

import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

OWN_FOLDER = Path(sys.prefix) / "oracles"
# The only operators of torchvision that its import asks for.
COMPILED = ("nms", "qnms")
SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def find(name: str) -> Any:
    """A class or function by its dotted name; without its library the test is skipped."""
    library, *_ = name.split(".")
    if library != "oracles":
        _import_library(library)
    module, *attributes = _longest_module(name)
    found = import_module(module)
    for attribute in attributes:
        found = getattr(found, attribute)
    return found


def _import_library(library: str) -> None:
    """Import torch, then torchvision if there is one, then the library.

    The order matters: `transformers` imports torchvision where it finds it.
    """
    if str(OWN_FOLDER) not in sys.path:
        sys.path.append(str(OWN_FOLDER))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in dict.fromkeys(("torch", "torchvision", library)):
            if find_spec(each) is not None:
                _import_torchvision() if each == "torchvision" else import_module(each)
            elif each != "torchvision" or library == "torchvision":
                pytest.skip(f"{each} is not installed")


def _import_torchvision() -> None:
    """Import torchvision, if need be without the operators that it compiled."""
    torch = import_module("torch")
    try:
        import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        for name in [each for each in sys.modules if each.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        declared = torch.library.Library("torchvision", "FRAGMENT")
        for operator in COMPILED:
            declared.define(operator + SIGNATURE)
        _KEPT.append(declared)
        import_module("torchvision")


_KEPT: list[Any] = []  # what is declared is so for as long as its object lives


def _longest_module(name: str) -> list[str]:
    """A dotted name as a module and attributes in it; classes are written with a capital letter."""
    parts = name.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:count])
            if module in sys.modules or find_spec(module) is not None:
                return [module, *parts[count:]]
    raise ModuleNotFoundError(name)
