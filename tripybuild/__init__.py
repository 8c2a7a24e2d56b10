"""Operators and models declared in YAML; executables proved against the real compilers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tripybuild.version import VERSION

if TYPE_CHECKING:
    from tripybuild.build.executable import Executable

__version__ = VERSION
__all__ = ["__version__", "compile", "emit", "load"]


def compile(
    spec: Path | str,
    *,
    target: str = "cpu",
    output: Path | str | None = None,
    sizes: Mapping[str, object] | None = None,
    shapes: Sequence[Mapping[str, int]] = (),
) -> "Executable":
    """Compile a model specification.

    Args:
        spec: The specification's file.
        target: `cpu` (XLA) or `reference` (NumPy, from the declarations).
        output: Where to write the executable; nowhere by default.
        sizes: Sizes to put in the place of the specification's own.
        shapes: Dynamic sizes to compile ahead of time, beside the `opt` of each range.

    Returns:
        A callable: arrays by input name in, arrays by output name out.

    Raises:
        DiagnosticError: With everything that is wrong.
    """
    from tripybuild.build.session import compile_spec  # noqa: PLC0415 - `import tripybuild` is for free

    executable = compile_spec(Path(spec), target=target, sizes=sizes, shapes=shapes)
    if output is not None:
        executable.save(output)
    return executable


def emit(
    spec: Path | str,
    kind: str,
    *,
    sizes: Mapping[str, object] | None = None,
    shapes: Sequence[Mapping[str, int]] = (),
) -> str:
    """The text of a model at one stage: `trace`, `stablehlo` or `tensorrt`."""
    from tripybuild.build import session  # noqa: PLC0415 - `import tripybuild` is for free

    return session.emit(Path(spec), kind, sizes=sizes, shapes=shapes)


def load(path: Path | str) -> "Executable":
    """Read an executable; every byte of it is checked against its digest."""
    from tripybuild.build import session  # noqa: PLC0415 - `import tripybuild` is for free

    return session.load(path)
