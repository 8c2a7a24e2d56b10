"""Settings: `tp.config.nvtripy_devices = True`."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.errors import diagnostics
from tripybuild.errors.diagnostics import DiagnosticError, suggest
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.checks.indexing import accept_lists

VARIABLE = "TRIPYBUILD_NVTRIPY_DEVICES"
ALL = "all"
# What nvtripy has and we have not, and what does the same.
ABSENT: Mapping[str, str] = {
    "timing_cache_file_path": (
        "whole engines and programs are kept, in the folder that `TRIPYBUILD_CACHE_DIR` names"
    ),
}


class Config:
    """The settings of a program; there are no others."""

    __slots__ = ("_nvtripy_devices",)

    def __init__(self) -> None:
        self.nvtripy_devices = os.environ.get(VARIABLE, "") not in ("", "0")

    @property
    def nvtripy_devices(self) -> bool:
        """Whether tensors say that they are where nvtripy would have them.

        What is computed is on `gpu:0` then, what lists were made into on `cpu:0`. Everything runs
        on the CPU all the same, so that a program that looks at devices runs unchanged on a machine
        without a GPU. A list as an index means what a tuple does, too: `x[[0, 1]]` is `x[0, 1]`.
        """
        return self._nvtripy_devices

    @nvtripy_devices.setter
    def nvtripy_devices(self, wanted: bool) -> None:
        self._nvtripy_devices = _boolean("nvtripy_devices", wanted)
        accept_lists(self._nvtripy_devices)

    @property
    def enable_input_validation(self) -> bool:
        """Whether calls are checked; they always are, since checking them gives the types."""
        return True

    @enable_input_validation.setter
    def enable_input_validation(self, wanted: bool) -> None:
        if not _boolean("enable_input_validation", wanted):
            message = "`enable_input_validation` cannot be false"
            hint = "dtypes and shapes of results follow from the checks, which cost microseconds"
            raise _value_error(message, hint)

    @property
    def extra_error_information(self) -> list[str]:
        """What errors say beside what is wrong: with `all`, what the code of each means."""
        return [ALL] if diagnostics.explains() else []

    @extra_error_information.setter
    def extra_error_information(self, wanted: Sequence[str]) -> None:
        several = isinstance(wanted, Sequence) and not isinstance(wanted, str)
        names = list(wanted) if several else [wanted]
        for name in names:
            if name not in (ALL, ""):
                near = f"did you mean `{ALL}`?" if suggest(str(name), [ALL]) else None
                raise _value_error(f"there is no information `{name}`; there is `{ALL}`", near)
        diagnostics.explain(ALL in names)

    if not TYPE_CHECKING:  # to type checkers, a name that is not above is wrong

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in self.__slots__ and not isinstance(vars(Config).get(name), property):
                raise _value_error(*_unknown(name))
            object.__setattr__(self, name, value)

        def __getattr__(self, name: str) -> Any:
            message, hint = _unknown(name)
            raise AttributeError(f"{message}; {hint}" if hint else message, name=name, obj=self)

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={getattr(self, name)}' for name in _settings())})"

    def __dir__(self) -> list[str]:
        return list(_settings())


def _settings() -> tuple[str, ...]:
    return tuple(name for name, each in vars(Config).items() if isinstance(each, property))


def _unknown(name: str) -> tuple[str, str | None]:
    message = f"`tp.config` has no setting `{name}`"
    near = suggest(name, _settings())
    return message, ABSENT.get(name) or (f"did you mean `{near}`?" if near else None)


def _boolean(name: str, given: object) -> bool:
    if not isinstance(given, bool):
        raise _value_error(f"`tp.config.{name}` is true or false, and not {given!r}", None)
    return given


def _value_error(message: str, hint: str | None) -> DiagnosticError:
    return DiagnosticError(caller_diagnostic("wrong-value", message, hint))


config = Config()
