"""`tp.Sequential`: a chain of modules and functions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tripybuild.eager.module.module import Module
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.frontend.checks.messages import format_value
from tripybuild.frontend.guard import missing_module_member
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import caller_location

ModuleLike = Module | Callable[[Any], Any]


@dataclass(init=False, repr=False, eq=False)
class Sequential(Module):
    """Modules and functions that are called one after the other, each on what the last one gave.

    ```python
    model = tp.Sequential(tp.Linear(4, 8), tp.relu, tp.Linear(8, 2))
    model = tp.Sequential({"up": tp.Linear(4, 8), "down": tp.Linear(8, 2)})
    ```

    The parameters are called `0.weight` or `up.weight`, as PyTorch calls them.

    Args:
        modules: What is called, or one dict of it with names.

    Raises:
        DiagnosticError: Something cannot be called, or a name is no text.
    """

    modules: dict[str, ModuleLike]

    def __init__(self, *modules: ModuleLike | dict[str, ModuleLike]) -> None:
        named: dict[str, Any] = {str(index): each for index, each in enumerate(modules)}
        if len(modules) == 1 and isinstance(modules[0], dict):
            named = dict(modules[0])
        for name, module in named.items():
            if not isinstance(name, str) or not callable(module):
                what = f"the module `{name}` is {format_value(module)}, which cannot be called"
                message = what if isinstance(name, str) else f"the name {name!r} is not a string"
                several = isinstance(module, (list, tuple))
                hint = "give them one by one: `tp.Sequential(*modules)`" if several else None
                place = caller_location(PACKAGES).span()
                raise DiagnosticError(Diagnostic("wrong-type", message, place, hint=hint))
        self.modules = named

    def forward(self, input: Any) -> Any:
        """Call all of them, each on what the last one gave."""
        for name, module in self.modules.items():
            try:
                input = module(input)
            except DiagnosticError as error:  # no line of the user's says which of them it is
                note = f"in the module `{name}` of a `{type(self).__name__}`"
                error.diagnostics = tuple(
                    replace(each, notes=(*each.notes, note)) for each in error.diagnostics
                )
                raise
        return input

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules among what is called, by name."""
        for name, module in self.modules.items():
            if isinstance(module, Module):
                yield name, module

    def __len__(self) -> int:
        return len(self.modules)

    def __iter__(self) -> Iterator[ModuleLike]:
        return iter(self.modules.values())

    def __getitem__(self, index: int | str) -> Any:
        """The module of a name, or at a position."""
        name = str(index)
        if name in self.modules:
            return self.modules[name]
        if isinstance(index, int) and -len(self) <= index < len(self):
            return list(self.modules.values())[index]
        near = suggest(name, self.modules)
        message = f"there is no module `{name}` among {len(self)}"
        hint = f"did you mean `{near}`?" if near else None
        raise DiagnosticError(
            Diagnostic("wrong-value", message, caller_location(PACKAGES).span(), hint=hint)
        )

    def __getattr__(self, name: str) -> Any:
        """A module that has a name: `model.up`."""
        modules = vars(self).get("modules", {})
        if name in modules:
            return modules[name]
        if name.startswith("_"):
            raise AttributeError(f"`{type(self).__name__}` has no attribute `{name}`")
        raise missing_module_member(self, name, modules)
