"""Function references on the command line: `model.py:forward`.

This runs the file, as `python model.py` does. Invariant: nothing but the words of a command leads
here; what a specification or an executable says never does.
"""

import ast
import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from itertools import groupby
from linecache import getline
from pathlib import Path
from traceback import FrameSummary, extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from tripybuild.cli.options import ArgumentSpec, infos, tensor
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.errors.user_frames import MOST, PACKAGES
from tripybuild.process.paths import PACKAGE
from tripybuild.types.dtypes import BY_NAME

if TYPE_CHECKING:
    from tripybuild.eager.compile.compile import FunctionGraph

SUFFIX = ".py"


class FunctionReference(NamedTuple):
    """A file and the path of something that can be called in it."""

    file: Path
    path: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]


def program(text: Path | str) -> FunctionReference | None:
    """Read `model.py:forward`; None for what names no Python file."""
    file, colon, path = str(text).rpartition(":")
    if colon and file.endswith(SUFFIX):
        return FunctionReference(Path(file), path)
    return FunctionReference(Path(text), "") if str(text).endswith(SUFFIX) else None


def record_program(asked: FunctionReference, inputs: Sequence[ArgumentSpec]) -> "FunctionGraph":
    """Run the file, call the function once, and give what it did.

    Args:
        asked: The file and the function.
        inputs: What to call it with; what is not among it stands in annotations, or in the file's
            own `args` and `kwargs`.

    Raises:
        DiagnosticError: There is no such file or function, the user's code fails, or what the
            function takes is nowhere said.
    """
    from tripybuild.eager.compile import compile as recording  # noqa: PLC0415 - heavy

    with user_code(asked.file):
        module = _load_module(asked.file)
    function = _resolve_path(module, asked)
    _refuse_foreign(function, asked)
    given = infos(inputs)
    args, kwargs = _arguments(function, module, given, asked)
    place = _place(function, asked)
    with user_code(asked.file, _string_hint(inputs)):
        return recording.record_function(function, args, kwargs, place)


def _refuse_foreign(function: Callable[..., Any], asked: FunctionReference) -> None:
    """A module of PyTorch computes with PyTorch's tensors, and records nothing here."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(function, torch.nn.Module):
        message = f"`{asked.path}` of `{asked.file}` is a module of PyTorch"
        command = f"tripybuild import {asked.file}:{asked.path} -o {asked.name}"
        hint = f"`{command} --input '{_first_parameter(function)}=float32[2,3]'` makes a spec of it"
        raise DiagnosticError(Diagnostic("wrong-type", message, hint=hint))


def _first_parameter(module: Any) -> str:
    return next(iter(inspect.signature(module.forward).parameters), "x")


def load_value(asked: FunctionReference) -> tuple[Any, ModuleType]:
    """Run the file, and give what the path names in it, with the file as a module.

    Raises:
        DiagnosticError: There is no such file or name, or the user's code fails.
    """
    with user_code(asked.file):
        module = _load_module(asked.file)
    return _resolve_path(module, asked), module


def run_file(file: Path) -> None:
    """Run a Python file for what it does.

    Raises:
        DiagnosticError: There is no such file, or it fails.
    """
    with user_code(file):
        _load_module(file)


def _string_hint(inputs: Sequence[ArgumentSpec]) -> str | None:
    """What may be meant by a constant that is the name of a dtype."""
    named = [each for each in inputs if isinstance(each.what, str) and each.what in BY_NAME]
    if not named:
        return None
    name, dtype = named[0]
    return f"`{name}={dtype}` is a string; a tensor of one number is `{name}={dtype}[]`"


def _load_module(file: Path) -> ModuleType:
    """The file as a module, with its folder among those that it imports from."""
    if not file.is_file():
        raise DiagnosticError(Diagnostic("file-not-found", f"there is no file `{file}`"))
    name = f"_program_{file.stem}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.resolve().parent))
    spec.loader.exec_module(module)
    return module


def _resolve_path(module: ModuleType, asked: FunctionReference) -> Callable[..., Any]:
    """What the path names: a function, a module, or a method of an object."""
    home: Any = module
    for name in asked.path.split("."):
        if not name or not hasattr(home, name):
            raise DiagnosticError(_not_found_diagnostic(home, name, asked))
        home = getattr(home, name)
    if not callable(home) or inspect.isclass(home):
        is_class = inspect.isclass(home)
        kind = "a class" if is_class else f"of the type `{type(home).__name__}`"
        message = f"`{asked.path}` of `{asked.file}` is {kind}, not a function"
        hint = "make an object of it in the file, and name that" if is_class else None
        raise DiagnosticError(Diagnostic("wrong-type", message, hint=hint))
    function: Callable[..., Any] = home
    return function


def _not_found_diagnostic(home: object, name: str, asked: FunctionReference) -> Diagnostic:
    public = [each for each in vars(home) if not each.startswith("_")] if name else []
    own = [each for each in _functions(home) if each in public] if name else list(_functions(home))
    near = suggest(name, public)
    hint = f"did you mean `{near}`?" if near else None
    if not near and own:
        hint = f"it has {', '.join(f'`{each}`' for each in own)}"
    message = f"`{asked.file}` has no `{asked.path}`" if name else f"`{asked.file}` is a whole file"
    hint = hint if name or not own else f"name a function of it: `{asked.file}:{own[0]}`"
    return Diagnostic("function-not-found", message, hint=hint)


def _functions(home: object) -> Iterator[str]:
    for name, each in vars(home).items():
        written = getattr(each, "__module__", None) == getattr(home, "__name__", "")
        own = written or hasattr(each, "forward")
        if callable(each) and not name.startswith("_") and not inspect.isclass(each) and own:
            yield name


def _arguments(
    function: Callable[..., Any],
    module: ModuleType,
    given: Mapping[str, Any],
    asked: FunctionReference,
) -> tuple[list[Any], dict[str, Any]]:
    """What to call it with: from flags, else from annotations, else from the file."""
    parameters = inspect.signature(function).parameters
    kinds = {each.kind for each in parameters.values()}
    unknown = [name for name in given if name not in _keyword_names(parameters)]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise DiagnosticError(*(_unknown(name, parameters, asked) for name in unknown))
    args, kwargs = list(getattr(module, "args", ())), dict(getattr(module, "kwargs", {}))
    if inspect.Parameter.VAR_POSITIONAL in kinds:  # names cannot say which of them is which
        return args, {**kwargs, **given}
    known = {**dict(zip(parameters, args, strict=False)), **kwargs}
    known |= {**dict(_annotation_infos(parameters)), **given}
    place = _place(function, asked)
    missing = [
        _missing_argument(name, asked, place)
        for name, each in parameters.items()
        if each.default is each.empty and name not in known and each.kind is not each.VAR_KEYWORD
    ]
    if missing:
        raise DiagnosticError(*missing)
    first = [n for n, e in parameters.items() if e.kind is e.POSITIONAL_ONLY and n in known]
    return [known.pop(name) for name in first], known


def _keyword_names(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    """Those that can be given by name."""
    kind = inspect.Parameter.VAR_POSITIONAL
    return [name for name, each in parameters.items() if each.kind is not kind]


def _unknown(
    name: str, parameters: Mapping[str, inspect.Parameter], asked: FunctionReference
) -> Diagnostic:
    named = _keyword_names(parameters)
    near, several = suggest(name, named), [each for each in parameters if each not in named]
    hint = f"did you mean `{near}`?" if near else f"it takes {', '.join(named) or 'nothing'}"
    if several and not near:
        hint = f"the arguments of `*{several[0]}` have no names: write `args = [...]` in the file"
    return Diagnostic("unknown-input", f"`{asked.path}` takes no `{name}`", hint=hint)


def _missing_argument(name: str, asked: FunctionReference, place: Span) -> Diagnostic:
    message = f"no input is declared for the parameter `{name}` of `{asked.path}`"
    hint = f"give `--input '{name}=float32[2,3]'`, an annotation, or `args` in the file"
    return Diagnostic("missing-input", message, place, hint=hint)


def _annotation_infos(parameters: Mapping[str, inspect.Parameter]) -> Iterator[tuple[str, Any]]:
    """The infos among annotations, which may be written as texts: `"float32[2, 3]"`."""
    from tripybuild.eager.compile.infos import DimensionInputInfo, InputInfo  # noqa: PLC0415

    texts: list[ArgumentSpec] = []
    for name, each in parameters.items():
        found = each.annotation
        if isinstance(found, (InputInfo, DimensionInputInfo)):
            yield name, found
        elif isinstance(found, str):
            with contextlib.suppress(ValueError):
                read = tensor(found.strip("'\""))
                texts += [ArgumentSpec(name, read)] if read else []
    yield from infos(texts).items()


def _place(function: Callable[..., Any], asked: FunctionReference) -> Span:
    """The line where the function begins; that of a module is its `forward`'s, if that is there."""
    from tripybuild.eager.module.module import call_target  # noqa: PLC0415 - heavy

    inner = inspect.unwrap(call_target(function))
    code, home = getattr(inner, "__code__", None), str(inner.__module__)
    if code is None or home.partition(".")[0] in PACKAGES:
        return _definition_span(asked)
    line = code.co_firstlineno
    text = getline(code.co_filename, line).rstrip()
    begin = len(text) - len(text.lstrip())
    return Span(code.co_filename, line, begin + 1, line, max(begin, len(text)) + 1)


def _definition_span(asked: FunctionReference) -> Span:
    """The statement of the file that made what is named."""
    name, file = asked.path.partition(".")[0], str(asked.file)
    for node in ast.parse(asked.file.read_bytes()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
            from tripybuild.trace.location import span_between  # noqa: PLC0415 - see `main`

            return span_between(file, node.lineno, node.col_offset, last, end)
    return Span(file, 1, 1, 1, 2)


@contextlib.contextmanager
def user_code(file: Path, hint: str | None = None) -> Iterator[None]:
    """Run what is the user's: it prints beside the answer, and its failures have its lines.

    Args:
        file: The program.
        hint: What else may be wrong, if it fails.

    Raises:
        DiagnosticError: It raised something, be it `SystemExit`.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (DiagnosticError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        span = Span(error.filename or str(file), line, column, line, column + 1)
        raise DiagnosticError(Diagnostic("program-failed", f"{error.msg}", span)) from error
    except BaseException as error:  # whatever the user's code raises, `SystemExit` among it
        raise DiagnosticError(_failure(error, file, hint)) from error


def _failure(error: BaseException, file: Path, hint: str | None) -> Diagnostic:
    """What the user's code raised, at its innermost line below the file's folder."""
    frames = [f for f in extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    own = [f for f in frames if Path(f.filename).is_relative_to(file.resolve().parent)] or frames
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    span = _span(own[-1]) if own else None
    notes = tuple(_outer_frames(own[:-1]))
    return Diagnostic("program-failed", text, span, "raised here", notes, hint)


def _outer_frames(frames: Sequence[FrameSummary]) -> list[str]:
    """The lines that led to a failure, the nearest first; of many, these and the outermost."""
    lines = (f"called at {frame.filename}:{frame.lineno}" for frame in reversed(frames))
    counted = [(line, len(list(equal))) for line, equal in groupby(lines)]
    found = [f"{line} ({times} times)" if times > 1 else line for line, times in counted]
    return [*found[: MOST - 1], *found[MOST - 1 :][-1:]]


def _is_ours(filename: str) -> bool:
    """Whether code is tripybuild's own, or what Python begins with."""
    return filename.startswith("<frozen") or Path(filename).is_relative_to(PACKAGE)


def _span(frame: FrameSummary) -> Span:
    line, column = frame.lineno or 1, (frame.colno or 0) + 1
    end_line = frame.end_lineno or line
    return Span(frame.filename, line, column, end_line, (frame.end_colno or column) + 1)
