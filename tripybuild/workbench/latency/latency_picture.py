"""Pictures of latencies, by Matplotlib."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write
from tripybuild.process.output_files import MARK, check_picture
from tripybuild.workbench.latency.contestants import QUANTILES

# What Matplotlib writes into a picture of each suffix: what made it, and no time.
METADATA = {
    ".svg": {"Creator": MARK, "Date": None},
    ".png": {"Software": MARK},
    ".pdf": {"Creator": MARK, "CreationDate": None},
}


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of one set of sizes.

    Args:
        sizes: How the sizes are called.
        calls: The seconds of all calls of each contestant, by name, the shortest first; of one that
            failed there are none.
    """

    sizes: str
    calls: Sequence[tuple[str, Sequence[float]]]


def check_plot(path: Path) -> None:
    """Refuse what cannot be drawn, before anything is measured for it.

    Raises:
        DiagnosticError: Matplotlib is not installed, the suffix is of no picture, or something
            else stands there.
    """
    check_picture(path, METADATA, "--plot")
    if find_spec("matplotlib") is None:
        hint = "install it: `pip install 'tripybuild[plot]'`"
        message = "a picture is drawn by Matplotlib, which is not installed"
        raise DiagnosticError(Diagnostic("not-installed", message, hint=hint))


def draw_picture(pictures: Sequence[Picture], path: Path) -> None:
    """Draw latencies: of one set of sizes their distributions, of several the medians beside them.

    A distribution is the part of all calls that took no longer than some milliseconds. Bars reach
    from the median to where 90 of 100 calls are.

    Raises:
        DiagnosticError: Matplotlib is not installed, or the file cannot be written.
    """
    check_plot(path)
    import matplotlib as mpl  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    (_draw_distributions if len(pictures) == 1 else _draw_medians)(axes, pictures)
    figure.legend(loc="outside upper center", ncols=2)
    axes.grid(visible=True, alpha=0.3)
    options = {"svg.hashsalt": "tripybuild", "svg.fonttype": "none"}
    with atomic_write(path) as stream, mpl.rc_context(options):
        figure.savefig(stream, format=path.suffix[1:], metadata=METADATA[path.suffix])


def _draw_distributions(axes: Any, pictures: Sequence[Picture]) -> None:
    (only,) = pictures
    for name, calls in only.calls:
        if not calls:
            continue
        parts = [(at + 1) / len(calls) for at in range(len(calls))]
        axes.step([1e3 * took for took in calls], parts, where="post", label=name)
    axes.set(xscale="log", xlabel="milliseconds", ylabel="part of the calls", title=only.sizes)


def _draw_medians(axes: Any, pictures: Sequence[Picture]) -> None:
    for number, (name, _) in enumerate(pictures[0].calls):
        found = [(at, each.calls[number][1]) for at, each in enumerate(pictures)]
        able = [(at, calls) for at, calls in found if calls]
        points = [(at, _quantile(calls, "p50"), _quantile(calls, "p90")) for at, calls in able]
        if points:
            places, middle, high = zip(*points, strict=True)
            above = [top - bottom for top, bottom in zip(high, middle, strict=True)]
            axes.errorbar(places, middle, [[0.0] * len(above), above], marker="o", label=name)
    axes.set_xticks(range(len(pictures)), [each.sizes for each in pictures])
    axes.set(yscale="log", ylabel="milliseconds, median to p90")


def _quantile(calls: Sequence[float], name: str) -> float:
    """A quantile in milliseconds."""
    return 1e3 * calls[int(QUANTILES[name] * (len(calls) - 1))]
