"""A connection to a cluster: the scheduler, its workers, and what each of them can compile.

Dask is imported by the parts of this room alone, and late. A program that reaches the scheduler can
run code on it, on its workers and in its clients: a cluster is trusted as a shell is (SECURITY.md).
"""

import contextlib
import logging
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tripybuild.cluster.addresses import ClusterAddress
from tripybuild.cluster.job_calls import MachineFacts
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import memory
from tripybuild.workspace.jobs import Action

if TYPE_CHECKING:
    from distributed import Client

CONNECT = 10.0  # seconds that a scheduler has for its first answer
EMPTY = 30.0  # seconds to wait for the first worker
MEMORY = "memory"  # the resource of a worker, in bytes
SHARE = 0.9  # of the memory that is available, for workers of this machine


class Cluster:
    """A scheduler and its workers; a context manager, which leaves them.

    Args:
        address: Where the scheduler is.

    Raises:
        DiagnosticError: Dask is not installed, nothing answers, or there is no worker.
    """

    def __init__(self, address: ClusterAddress) -> None:
        if find_spec("distributed") is None:
            hint = "install it: `pip install 'tripybuild[cluster]'`"
            message = "a cluster is reached by Dask, which is not installed"
            raise DiagnosticError(Diagnostic("not-installed", message, hint=hint))
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what fails is said by us
        self.address = address
        self._own = contextlib.ExitStack()
        self._facts: dict[tuple[str, tuple[str, Action]], MachineFacts] = {}
        try:
            self.client = self._connect()
            self._wait_for_workers()
        except BaseException:
            self.close()
            raise

    def workers(self) -> Mapping[str, Mapping[str, Any]]:
        """What the scheduler knows of each worker, by its address.

        Raises:
            DiagnosticError: The scheduler does not answer.
        """
        try:
            found = self.client.scheduler_info(n_workers=-1)
        except OSError as error:
            raise DiagnosticError(self.lost(str(error))) from error
        return dict(found["workers"])

    def facts(self, workers: Sequence[str], target: str, action: Action) -> dict[str, MachineFacts]:
        """What workers say of a target; each is asked once, before work is sent to it.

        Raises:
            DiagnosticError: The scheduler does not answer.
        """
        from tripybuild.cluster.worker_service import describe_machine  # noqa: PLC0415 - Dask

        asked = (target, action)
        new = [each for each in workers if (each, asked) not in self._facts]
        if new:
            # One that is gone, or has no tripybuild, is an exception in the place of an answer.
            try:
                found = self.client.run(describe_machine, *asked, workers=new, on_error="return")
            except OSError as error:
                raise DiagnosticError(self.lost(str(error))) from error
            self._facts |= {(each, asked): _checked(answer) for each, answer in found.items()}
        known = {each: self._facts.get((each, asked)) for each in workers}
        return {each: facts for each, facts in known.items() if facts is not None}

    def forget(self, worker: str) -> None:
        """Ask a worker again: another process may have its address."""
        for each in [each for each in self._facts if each[0] == worker]:
            del self._facts[each]

    def is_lost(self) -> bool:
        """Whether the scheduler does not answer any more."""
        return self.client.status not in ("running", "newly-created")

    def lost(self, reason: str = "") -> Diagnostic:
        """The diagnostic that the scheduler is gone."""
        message = f"The scheduler at `{self.address}` does not answer any more"
        hint = "run the same command again when it does: what is done is kept"
        return Diagnostic("cluster-lost", message, notes=(reason,) if reason else (), hint=hint)

    def empty(self) -> Diagnostic:
        """The diagnostic that there are no workers."""
        message = f"The scheduler at `{self.address}` has had no worker for {EMPTY:g} s"
        hint = f"`dask worker {self.address}` starts one"
        return Diagnostic("cluster-empty", message, hint=hint)

    def close(self) -> None:
        """Leave the scheduler; workers of this machine are ended."""
        self._own.close()

    def _connect(self) -> "Client":
        from distributed import Client, LocalCluster  # noqa: PLC0415 - takes half a second

        settings: dict[str, Any] = {"timeout": CONNECT, "set_as_default": False}
        where = self.address
        try:
            if where.workers:
                share = int((memory.available() or 4 << 30) * SHARE / where.workers)
                cluster = LocalCluster(
                    n_workers=where.workers,
                    threads_per_worker=1,
                    processes=True,
                    # Without one, Dask asks for its usual port, and warns where that is taken.
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                    resources={MEMORY: share},
                    memory_limit=0,  # a job's memory is that of a process of its own
                )
                self._own.enter_context(cluster)
                return self._own.enter_context(Client(cluster, **settings))
            if where.file is not None:
                settings["scheduler_file"] = str(where.file)
                return self._own.enter_context(Client(**settings))
            return self._own.enter_context(Client(where.scheduler, **settings))
        except (OSError, ValueError, KeyError) as error:
            message = f"No scheduler answers at `{where}`"
            hint = "`dask scheduler` starts one, and prints its address"
            notes = (str(error).strip().splitlines() or [""])[:1]
            found = Diagnostic("cluster-unreachable", message, notes=tuple(notes), hint=hint)
            raise DiagnosticError(found) from error

    def _wait_for_workers(self) -> None:
        from distributed import TimeoutError as NoWorkersError  # noqa: PLC0415 - Dask

        try:
            self.client.wait_for_workers(1, timeout=EMPTY)
        except NoWorkersError as error:
            raise DiagnosticError(self.empty()) from error


def _checked(answer: object) -> MachineFacts:
    """What a worker answered, or that it cannot answer."""
    if isinstance(answer, MachineFacts):
        return answer
    if isinstance(answer, ImportError):
        return MachineFacts({}, f"it cannot import tripybuild: {answer}")
    return MachineFacts({}, f"it does not answer: {answer}")
