"""Addresses of clusters, as `--on` takes them: a scheduler, its file, or workers of this host."""

from dataclasses import dataclass
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.workspace.local_executor import usable_cores

SCHEMES = {"dask": "tcp", "dask+tcp": "tcp", "dask+tls": "tls"}
LOCAL = "local"
MOST_WORKERS = 1024
FORMS = "`dask://HOST:PORT`, `dask+tls://HOST:PORT`, a scheduler's file `FILE.json`, `local:N`"


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """Where a scheduler is; exactly one of the three is given.

    Args:
        scheduler: Its address as Dask writes it, such as `tcp://10.0.0.1:8786`.
        file: The file that the scheduler wrote its address into.
        workers: How many workers of this machine to start, with a scheduler of their own.
    """

    scheduler: str = ""
    file: Path | None = None
    workers: int = 0

    def __str__(self) -> str:
        """As a user would write it."""
        return self.scheduler or str(self.file or f"{LOCAL}:{self.workers}")


def parse_address(text: str) -> ClusterAddress:
    """The cluster that a user names.

    Raises:
        DiagnosticError: It is no address, or the file is not there.
    """
    scheme, found, place = text.partition("://")
    if found:
        host, _, port = place.rpartition(":")
        is_port = port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16
        if scheme in SCHEMES and host and is_port and not set(host) & set("/@?#"):
            return ClusterAddress(f"{SCHEMES[scheme]}://{host}:{port}")
        raise DiagnosticError(_unknown(text))
    kind, _, count = text.partition(":")
    if kind == LOCAL:
        number = count or str(usable_cores())
        if number.isascii() and number.isdigit() and 0 < int(number) <= MOST_WORKERS:
            return ClusterAddress(workers=int(number))
        raise DiagnosticError(_unknown(text))
    if text.endswith(".json"):
        file = Path(text)
        if file.is_file():
            return ClusterAddress(file=file)
        message = f"There is no scheduler's file `{text}`"
        hint = f"`dask scheduler --scheduler-file {text}` writes it"
        raise DiagnosticError(Diagnostic("cluster-address", message, hint=hint))
    raise DiagnosticError(_unknown(text))


def _unknown(text: str) -> Diagnostic:
    return Diagnostic("cluster-address", f"`{text}` is no cluster's address", hint=f"it is {FORMS}")
