"""Calling convention of a compiled function, as data in the executable's manifest."""

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tripybuild.eager.compile.arguments import child_name, has_infos
from tripybuild.eager.compile.infos import DimensionInputInfo, Info, InputInfo, NamedDimension
from tripybuild.eager.compile.results import TUPLE
from tripybuild.frontend.tensor import Tensor
from tripybuild.types.dtypes import BY_NAME

KEY = "call"  # in the manifest, below `provenance`
_KINDS = {kind.name: kind for kind in inspect._ParameterKind}  # noqa: SLF001 - the only way to all of them


@dataclass(frozen=True)
class CallForm:
    """How an executable is called: the parameters that infos were given for, and what comes back.

    Args:
        forms: For each parameter an info, or lists and dictionaries of infos.
        kinds: How each parameter is given, as `inspect` calls it.
        gives: What comes back, as `results` has it.
    """

    forms: Mapping[str, Any]
    kinds: Mapping[str, str]
    gives: Any

    @classmethod
    def of(cls, signature: inspect.Signature, given: Mapping[str, Any], gives: Any) -> Self:
        """The call of a function that was given these arguments."""
        forms = {name: form for name, form in given.items() if has_infos(form)}
        kinds = {name: signature.parameters[name].kind.name for name in forms}
        return cls(forms, kinds, gives)

    def signature(self, tensor: type[Tensor]) -> inspect.Signature:
        """The signature that is left when constants are baked in.

        Args:
            tensor: What tensors are annotated as.
        """
        parameters = [
            inspect.Parameter(name, _KINDS[self.kinds[name]], annotation=_annotation(form, tensor))
            for name, form in self.forms.items()
        ]
        return inspect.Signature(parameters, return_annotation=_return_type(self.gives, tensor))

    def data(self, infos: Mapping[str, Info]) -> dict[str, Any]:
        """The call as JSON can say it; in lists, since JSON's objects have no order."""
        return {
            "parameters": [
                [name, self.kinds[name], _name_infos(prefix(name, self.kinds[name]), form)]
                for name, form in self.forms.items()
            ],
            "gives": self.gives,
            "infos": {name: _info(each) for name, each in infos.items()},
        }

    @classmethod
    def read(cls, data: Mapping[str, Any], infos: Mapping[str, Info]) -> Self:
        """The call that `data` gave."""
        parameters = data["parameters"]
        forms = {name: _read(form, infos) for name, _, form in parameters}
        return cls(forms, {name: kind for name, kind, _ in parameters}, data["gives"])


def prefix(name: str, kind: str) -> str:
    """What stands before the names of inputs in a parameter: nothing before those of `**kwargs`."""
    return "" if kind == inspect.Parameter.VAR_KEYWORD.name else name


def _return_type(form: Any, tensor: type[Tensor]) -> Any:
    """The annotation of what comes back, as nvtripy writes it."""
    if isinstance(form, str):
        return tensor
    kind, *inner = form
    if kind != TUPLE:
        return dict
    inside = tuple(_return_type(each, tensor) for each in inner)
    return typing.Tuple[inside]  # noqa: UP006 - which is not equal to `tuple[...]`


def _annotation(form: Any, tensor: type[Tensor]) -> Any:
    if isinstance(form, Info):
        return int if isinstance(form, DimensionInputInfo) else tensor
    return dict if isinstance(form, dict) else list


def _name_infos(name: str, form: Any) -> Any:
    """A form with names for infos."""
    if isinstance(form, (list, tuple)):
        return [_name_infos(child_name(name, i), each) for i, each in enumerate(form)]
    if isinstance(form, dict):
        return {key: _name_infos(child_name(name, key), each) for key, each in form.items()}
    return name if isinstance(form, Info) else None


def _read(form: Any, infos: Mapping[str, Info]) -> Any:
    if isinstance(form, list):
        return [_read(each, infos) for each in form]
    if isinstance(form, dict):
        return {key: _read(each, infos) for key, each in form.items()}
    return None if form is None else infos[form]


def _info(info: Info) -> dict[str, Any]:
    if isinstance(info, DimensionInputInfo):
        return {"value": [info.range.min, info.range.opt, info.range.max]}
    several = [[each.min, each.opt, each.max] for each in info.ranges]
    names = {str(place): name for place, name in info.dimension_names.items()}
    return {"dtype": str(info.dtype), "bounds": several, "names": names}


def read_info(data: Mapping[str, Any]) -> Info:
    """The info that stands in a manifest."""
    if "value" in data:
        return DimensionInputInfo(data["value"])
    names = data["names"]
    shape = [
        NamedDimension(names[str(i)], *bounds) if str(i) in names else tuple(bounds)
        for i, bounds in enumerate(data["bounds"])
    ]
    return InputInfo(shape, BY_NAME[data["dtype"]])
