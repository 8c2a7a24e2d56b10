"""Compiled functions: called as the function was, on tensors of any library."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from tripybuild.build.executable import Executable as Program, opened
from tripybuild.build.model import PACKAGE
from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.eager.arguments import matched
from tripybuild.eager.evaluate import array_of
from tripybuild.eager.infos import InputInfo
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.numerics.arrays import Array
from tripybuild.trace.constants import constant
from tripybuild.trace.location import here
from tripybuild.types.dtypes import BY_NAME, from_numpy

KEY = "call"  # in the manifest, below `provenance`
_KINDS = {kind.name: kind for kind in inspect._ParameterKind}  # noqa: SLF001 - the only way to all of them


@dataclass(frozen=True)
class Call:
    """How an executable is called: the parameters that infos were given for, and what comes back.

    Args:
        forms: For each parameter an info, or lists and dictionaries of infos.
        kinds: How each parameter is given, as `inspect` calls it.
        several: Whether a tuple comes back.
    """

    forms: Mapping[str, Any]
    kinds: Mapping[str, str]
    several: bool

    @classmethod
    def of(cls, signature: inspect.Signature, given: Mapping[str, Any], several: bool) -> Self:
        """The call of a function that was given these arguments."""
        forms = {name: form for name, form in given.items() if _has_infos(form)}
        kinds = {name: signature.parameters[name].kind.name for name in forms}
        return cls(forms, kinds, several)

    @property
    def signature(self) -> inspect.Signature:
        """The signature that is left when constants are baked in."""
        return inspect.Signature(
            [
                inspect.Parameter(name, _KINDS[self.kinds[name]], annotation=Tensor)
                for name in self.forms
            ]
        )

    def data(self, infos: Mapping[str, InputInfo]) -> dict[str, Any]:
        """The call as JSON can say it; in lists, since JSON's objects have no order."""
        return {
            "parameters": [
                [name, self.kinds[name], _spelt(name, form)] for name, form in self.forms.items()
            ],
            "several": self.several,
            "infos": {name: _info(each) for name, each in infos.items()},
        }

    @classmethod
    def read(cls, data: Mapping[str, Any], infos: Mapping[str, InputInfo]) -> Self:
        """The call that `data` gave."""
        parameters = data["parameters"]
        forms = {name: _read(form, infos) for name, _, form in parameters}
        return cls(forms, {name: kind for name, kind, _ in parameters}, data["several"])


def _has_infos(form: Any) -> bool:
    return any(isinstance(each, InputInfo) for _, each in matched("", form, form))


def _spelt(name: str, form: Any) -> Any:
    """A form with names for infos."""
    if isinstance(form, (list, tuple)):
        return [_spelt(f"{name}_{i}", each) for i, each in enumerate(form)]
    if isinstance(form, dict):
        return {key: _spelt(f"{name}_{key}", each) for key, each in form.items()}
    return name if isinstance(form, InputInfo) else None


def _info(info: InputInfo) -> dict[str, Any]:
    bounds = [[each.min, each.opt, each.max] for each in info.shape_bounds]
    names = {str(place): name for place, name in info.dimension_names.items()}
    return {"dtype": str(info.dtype), "bounds": bounds, "names": names}


class Executable:
    """A compiled function.

    Args:
        program: What runs.
        call: How it is called.
        infos: What it takes, by the inputs' names.
    """

    def __init__(self, program: Program, call: Call, infos: Mapping[str, InputInfo]) -> None:
        import_module(f"{PACKAGE}.tensor")  # its Tensor has the operators
        self.program, self.call, self.input_infos = program, call, dict(infos)
        self.__signature__ = call.signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function.

        Args:
            args: A tensor, or anything with DLPack, for each parameter that an info was given for.
            kwargs: The same by name.

        Returns:
            One tensor, or a tuple where the function gave several.

        Raises:
            DiagnosticError: A tensor is missing, or of another dtype or shape than compiled for.
        """
        arrays = {name: _array(given) for name, given in self._given(args, kwargs)}
        results = [_tensor(array) for array in self.program(**arrays).values()]
        return tuple(results) if self.call.several else results[0]

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            message = f"this was compiled for {self.__signature__}: {error}"
            raise DiagnosticError(
                Diagnostic("wrong-type", message, here(PACKAGES).span())
            ) from error
        for name, form in self.call.forms.items():
            yield from matched(name, form, bound.arguments.get(name, ()))

    def save(self, path: Path | str) -> None:
        """Write the executable to a file, whole or not at all."""
        self.program.save(path)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read an executable; every byte of it is checked against its digest.

        Raises:
            DiagnosticError: There is none, it was altered, or it was made from no function.
        """
        program = opened(Path(path))
        data = program.manifest["provenance"].get(KEY)
        if data is None:
            message = f"`{path}` was compiled from a spec, and no function"
            hint = "load it with `tripybuild.load`"
            raise DiagnosticError(Diagnostic("executable-not-recognised", message, hint=hint))
        infos = {name: _read_info(each) for name, each in data["infos"].items()}
        return cls(program, Call.read(data, infos), infos)

    def __str__(self) -> str:
        return f"Executable{self.__signature__}"


def _read(form: Any, infos: Mapping[str, InputInfo]) -> Any:
    if isinstance(form, list):
        return [_read(each, infos) for each in form]
    if isinstance(form, dict):
        return {key: _read(each, infos) for key, each in form.items()}
    return None if form is None else infos[form]


def _read_info(data: Mapping[str, Any]) -> InputInfo:
    from tripybuild.eager.infos import NamedDimension  # noqa: PLC0415 - only here

    names = data["names"]
    shape = [
        NamedDimension(names[str(i)], *bounds) if str(i) in names else tuple(bounds)
        for i, bounds in enumerate(data["bounds"])
    ]
    return InputInfo(shape, BY_NAME[data["dtype"]])


def _array(given: Any) -> Any:
    return array_of(given.value) if isinstance(given, Tensor) else given


def _tensor(array: Array) -> Tensor:
    return Tensor.of(constant(array, from_numpy(array.dtype)))
