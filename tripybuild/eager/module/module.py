"""`tp.Module`: parameters and nested modules as attributes, computation in `forward`.

A tensor is checked against the parameter that it replaces.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, TypeVar

from tripybuild.eager.evaluate.error_locations import locate_errors
from tripybuild.eager.module.members import ModuleMember, members, walk_modules
from tripybuild.eager.module.placeholders import (
    dummy,
    fits,
    is_optional,
    is_placeholder,
    parameter_of,
    require_parameters,
)
from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, pair_names
from tripybuild.frontend.checks.argument_error import argument_error
from tripybuild.frontend.checks.call_site import call_at
from tripybuild.frontend.checks.messages import format_value
from tripybuild.frontend.checks.python_numbers import is_data
from tripybuild.frontend.guard import missing_module_member, refuse_call
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.trace.location import caller_location

if TYPE_CHECKING:
    from tripyapi.tensor import Tensor as PublicTensor


MATRIX = 2  # dimensions
MOST = 12  # problems of one kind that are spelled out
OPTIONAL = "_optional_parameters"  # where a module keeps those that may stay unset
# Whether the parameters of the modules that are called have been checked.
_looked_at: ContextVar[bool] = ContextVar("looked_at", default=False)

Taken = ParamSpec("Taken")  # the parameters of a `forward`
Result_co = TypeVar("Result_co", covariant=True)  # what a `forward` gives


@contextmanager
def skip_parameter_check() -> Iterator[None]:
    """Disable parameter checks of modules, for callers that check themselves."""
    token = _looked_at.set(True)
    try:
        yield
    finally:
        _looked_at.reset(token)


class MissingForwardError(DiagnosticError, NotImplementedError):
    """A module does not say what it does."""


class _ForwardProtocol(Protocol[Taken, Result_co]):
    """A module by what its `forward` takes and gives."""

    def forward(self, *args: Taken.args, **kwargs: Taken.kwargs) -> Result_co:
        """What the module does."""

    def _require_parameters(self) -> None: ...


def call_target(function: Callable[..., Any]) -> Callable[..., Any]:
    """What says how a function is called: of a module `forward`, or a `__call__` of its own."""
    if not isinstance(function, Module):
        return function
    own = type(function).__call__ is not Module.__call__
    return function.__call__ if own else function.forward


class _Signature:
    """What `inspect.signature` asks of a module; a class is called as its constructor."""

    def __get__(self, module: "Module | None", kind: type["Module"]) -> inspect.Signature:
        if module is None:
            raise AttributeError("__signature__", name="__signature__", obj=kind)
        return inspect.signature(call_target(module))


class Module:
    """A part of a program that holds parameters and other modules.

    Attributes that are tensors are parameters; attributes that are modules are children. Both may
    stand in lists and in dicts with texts for keys. A subclass says in `forward` what it does.

    ```python
    class Scaled(tp.Module):
        def __init__(self):
            super().__init__()
            self.linear = tp.Linear(4, 2)
            self.scale = tp.Tensor([2.0, 3.0])

        def forward(self, x):
            return self.linear(x) * self.scale
    ```
    """

    _fixed: ClassVar[frozenset[str]] = frozenset()
    _variables: ClassVar[Mapping[str, str]] = {}
    __signature__ = _Signature()

    def __init_subclass__(
        cls, fixed: Sequence[str] = (), types: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        """Make a kind of module.

        Args:
            fixed: The attributes that parameters were made from: once set, they stay as they are.
            types: The attributes that a specification gives the dtypes of its type variables.
            options: Those of the other classes that it is derived from.
        """
        super().__init_subclass__(**options)
        cls._fixed |= frozenset(fixed)
        cls._variables = types or {}

    def __call__(
        self: "_ForwardProtocol[Taken, Result_co]", /, *args: Taken.args, **kwargs: Taken.kwargs
    ) -> Result_co:
        """Call `forward`, whose signature it has to type checkers.

        Raises:
            DiagnosticError: Parameters have not been given yet, here or in modules below.
        """
        try:
            if _looked_at.get():
                return self.forward(*args, **kwargs)
            self._require_parameters()
            with skip_parameter_check():
                return self.forward(*args, **kwargs)
        except TypeError as error:
            refuse_call(type(self).__name__, self.forward, args, kwargs, error)
            raise

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module does."""
        del args, kwargs
        message = f"`{type(self).__name__}` does not define `forward`"
        hint = "define `forward(self, ...)` in the class"
        raise MissingForwardError(
            Diagnostic("wrong-type", message, caller_location(PACKAGES).span(), hint=hint)
        )

    if not TYPE_CHECKING:  # to type checkers, an attribute that is nowhere declared is wrong

        def __setattr__(self, name: str, value: Any) -> None:
            spend("members")  # a specification may make modules without end
            before = vars(self).get(name)
            path = f"{type(self).__name__}.{name}"
            if is_optional(value):
                vars(self).setdefault(OPTIONAL, {})[name] = value.value
                value = None
            elif before is None and name in vars(self).get(OPTIONAL, ()):
                before = parameter_of(vars(self)[OPTIONAL][name])
            if isinstance(before, Tensor) and value is not None:
                if found := list(check_replacement(path, before, value)):
                    raise DiagnosticError(*found)
            elif isinstance(value, Tensor) and is_placeholder(value) and value.value.name is None:
                value.value.name = path
            elif name in self._fixed and name in vars(self) and before != value:
                message = f"`{path}` is {before}, and parameters were made from it"
                span, hint = caller_location(PACKAGES).span(), "make another module"
                raise DiagnosticError(Diagnostic("wrong-value", message, span, hint=hint))
            super().__setattr__(name, value)

        def __getattr__(self, name: str) -> Any:
            """Error with a hint: modules of other systems have modes, devices and more."""
            if name.startswith("_"):
                raise AttributeError(f"`{type(self).__name__}` has no attribute `{name}`")
            raise missing_module_member(self, name)

    def named_parameters(self) -> "Iterator[tuple[str, PublicTensor]]":
        """The parameters of the module itself, without those of other modules, by name.

        Optional ones are among them.
        """
        for member in (*self._parameters(), *self._optional()):
            yield member.name, member.value

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """The modules that this one holds, without those that they hold, by name."""
        for member in members(vars(self), (Module,)):
            yield member.name, member.value

    def state_dict(self) -> "dict[str, PublicTensor]":
        """All parameters of the module and of those below it, by their paths."""
        return {path: member.value for path, member in self._state(optional=True)}

    def load_state_dict(
        self, state_dict: Mapping[str, Tensor], strict: bool = True
    ) -> tuple[set[str], set[str]]:
        """Give parameters of the module and of those below it.

        Args:
            state_dict: Tensors by their paths, as `state_dict` gives them; those of other libraries
                are copied, as `Tensor` copies them.
            strict: Whether all parameters must be there, and nothing else.

        Returns:
            The paths of parameters that are not there, and those that no parameter has.

        Raises:
            DiagnosticError: With all that is of another shape or dtype and, where `strict`, with
                all that is missing or left over. Nothing is changed then.
        """
        if not isinstance(state_dict, Mapping):
            isfile = isinstance(state_dict, (str, Path))
            hint = "`load_weights` reads a file" if isfile else None
            raise argument_error(
                "load_state_dict", "state_dict", "a dictionary of tensors", state_dict, hint
            )
        given = {p: _as_tensor(each) for p, each in state_dict.items() if not is_optional(each)}
        state = {
            path: member
            for path, member in self._state(optional=True)
            if path in given or not is_optional(member.value)
        }
        return load(state, given, strict=strict)

    def initialize_dummy_parameters(self) -> None:
        """Fill parameters that have not been given yet with ones."""
        for _, member in self._state():
            if is_placeholder(member.value):
                member.holder[member.key] = dummy(member.value)

    def save_weights(self, path: str | Path) -> None:
        """Write all parameters to a safetensors file, under their paths."""
        from tripybuild.eager.module.weight_files import save  # noqa: PLC0415 - NumPy

        with locate_errors((), caller_location(PACKAGES).span(), "written"):
            save({path: member.value for path, member in self._state()}, Path(path))

    def load_weights(self, path: str | Path, strict: bool = True) -> tuple[set[str], set[str]]:
        """Read parameters from a safetensors file, as `load_state_dict` takes them."""
        from tripybuild.eager.module.weight_files import tensors  # noqa: PLC0415 - NumPy

        with locate_errors((), caller_location(PACKAGES).span(), "read"):
            state = tensors(Path(path))
        return self.load_state_dict(state, strict=strict)

    def _parameters(self) -> Iterable[ModuleMember]:
        return members(vars(self), (Tensor,))

    def _optional(self) -> Iterator[ModuleMember]:
        """Paths of optional parameters without a value."""
        for name, value in vars(self).get(OPTIONAL, {}).items():
            if vars(self)[name] is None:
                yield ModuleMember(name, parameter_of(value), vars(self), name)

    def _state(self, *, optional: bool = False) -> Iterator[tuple[str, ModuleMember]]:
        for path, module in walk_modules(self, lambda module: module.named_children()):
            for member in module._parameters():  # noqa: SLF001 - of another module
                yield path + member.name, member
            for member in module._optional() if optional else ():  # noqa: SLF001 - of another
                yield path + member.name, member

    def _require_parameters(self) -> None:
        values = {path: member.value.value for path, member in self._state()}
        require_parameters(values, caller_location(PACKAGES).span)

    @recursive_repr(fillvalue="...")
    def __str__(self) -> str:
        lines = [f"{type(self).__name__}("]
        for name, parameter in self.named_parameters():
            shape, dtype = parameter.type.shape, parameter.dtype
            lines.append(f"    {name}: Parameter = (shape={shape}, dtype={dtype}),")
        for name, child in self.named_children():
            inner = str(child).replace("\n", "\n    ")
            lines.append(f"    {name}: Module = {inner},")
        return "\n".join([*lines, ")"])

    __repr__ = __str__


def check_replacement(name: str, before: Tensor, after: object) -> Iterator[Diagnostic]:
    """What is wrong with a new tensor for a parameter: it has the dtype and shape of the old one.

    Args:
        name: The parameter, for messages.
        before: What is there.
        after: What is to be there.
    """
    if not isinstance(after, Tensor):
        message = f"the parameter `{name}` is a tensor, but this is {format_value(after)}"
        hint = "make one of it: `tp.Tensor(...)`" if is_data(after) else None
        yield Diagnostic("wrong-type", message, _place(name), hint=hint)
    elif not fits(before, after):
        code = "weight-dtype" if before.dtype is not after.dtype else "weight-shape"
        message = f"the parameter `{name}` is {before.type}, but this is {after.type}"
        hint = None
        if code == "weight-dtype":
            hint = f"cast it: `tp.cast(..., tp.{before.dtype})`"
        elif before.type.rank == MATRIX and before.type.shape == after.type.shape[::-1]:
            hint = "turn it: `tp.transpose(..., 0, 1)`"
        yield Diagnostic(code, message, _place(name), hint=hint)


def _place(name: str) -> Span:
    """Source location of a named tensor, or of the call that passes it."""
    place = caller_location(PACKAGES)
    call = call_at(place)
    return (call and call.argument("state_dict", (name,))) or place.span()


def _as_tensor(given: Any) -> Any:
    """Another library's array as a tensor; what is none is refused with the others."""
    if isinstance(given, Tensor) or not hasattr(given, "__dlpack__"):
        return given
    return Tensor._kind(given)  # type: ignore[call-arg] # noqa: SLF001 - the public class


def load(
    state: Mapping[str, ModuleMember], given: Mapping[str, Tensor], *, strict: bool
) -> tuple[set[str], set[str]]:
    """Put tensors in the place of parameters.

    Args:
        state: Where each parameter is, by its path.
        given: The tensors by their paths.
        strict: Whether all parameters must be there, and nothing else.

    Returns:
        The paths that are missing, and those that no parameter has.
    """
    missing, left = set(state) - set(given), set(given) - set(state)
    found = [
        problem
        for path, member in state.items()
        if path in given
        for problem in check_replacement(path, member.value, given[path])
    ]
    if strict and (missing or left):
        span = caller_location(PACKAGES).span()
        absent = [path for path in state if path in missing]
        extra = [path for path in given if path in left]
        meant = _match_paths(absent, extra)
        found += _path_diagnostics(
            absent, "weight-missing", "the parameter `{}` is missing", meant, span
        )
        meant = {other: path for path, other in meant.items()}
        found += _path_diagnostics(
            extra, "weight-unused", "there is no parameter `{}`", meant, span
        )
    if found:
        raise DiagnosticError(*found)
    for path, member in state.items():
        if path in given:
            member.holder[member.key] = given[path]
    return missing, left


def _match_paths(absent: list[str], extra: list[str]) -> dict[str, str]:
    """Which of the paths that are shown was meant by which: each by one, and the nearest first."""
    meant = pair_names(absent[:MOST], extra)
    rest = [path for path in absent if path not in meant]
    left = [path for path in extra if path not in meant.values()]
    return meant | {path: other for other, path in pair_names(left[:MOST], rest).items()}


def _path_diagnostics(
    paths: list[str], code: str, message: str, meant: Mapping[str, str], span: Span
) -> Iterator[Diagnostic]:
    """One diagnostic for each path, but for those of a long list."""
    for path in paths[:MOST]:
        near = meant.get(path)
        hint = f"did you mean `{near}`?" if near else None
        yield Diagnostic(code, message.format(path), span, hint=hint)
    if len(paths) > MOST:
        rest = f"{message.format(paths[MOST])}, and {len(paths) - MOST - 1} more"
        yield Diagnostic(code, rest, span)
