"""Jobs on a real Dask scheduler with worker processes: killed, of another version, far away."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from workspaces import VOLUMES

import tripybuild
from tripybuild.cluster import dask_client, dask_executor, transfer
from tripybuild.cluster.addresses import ClusterAddress, parse_address
from tripybuild.cluster.file_store import FileStore, contained
from tripybuild.cluster.transfer import await_output, read_pieces, write_output
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.hashing import file_digest
from tripybuild.workspace.jobs import Job, JobFile, JobResult, Needs
from tripybuild.workspace.versions import job_versions

pytest.importorskip("distributed", reason="distributed is not installed")


class Machines:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "scheduler.json"
        self.processes = []

    def start(self, kind, *words, path=None):
        """Start a scheduler or a worker; `path` is searched for packages before all else."""
        own = (
            {"PYTHONPATH": f"{path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"} if path else {}
        )
        command = [sys.executable, "-P", "-m", f"distributed.cli.dask_{kind}", "--no-dashboard"]
        with (self.folder / f"{kind}-{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--scheduler-file", str(self.file), *words],
                env={**os.environ, **own},
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def start_scheduler(self):
        """Start the scheduler, and wait for its file."""
        process = self.start("scheduler", "--host", "127.0.0.1", "--port", "0")
        while not self.file.exists():
            assert process.poll() is None
            time.sleep(0.02)
        return process

    def start_worker(self, name, *words, path=None):
        """Start a worker with one thread."""
        folder = self.folder / name
        own = ("--nthreads", "1", "--no-nanny", "--name", name, "--local-directory", str(folder))
        return self.start("worker", *own, *words, path=path)

    def stop(self):
        """End what still runs."""
        for each in self.processes:
            each.kill()
            each.wait()


@pytest.fixture
def machines(tmp_path):
    """A folder of processes, which end with the test."""
    found = Machines(tmp_path / "machines")
    found.folder.mkdir()
    yield found
    found.stop()


@pytest.fixture
def root(tmp_path, shared_cache):
    """A workspace with a spec, and one that is wrong."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "volumes.yaml").write_text(VOLUMES, encoding="utf-8")
    (folder / "wrong.yaml").write_text(VOLUMES.replace("edges *", "edge *"), encoding="utf-8")
    return folder


def other_version(folder):
    """A folder with a tripybuild of another version; all but its version is this one."""
    package, own = folder / "tripybuild", Path(tripybuild.__file__).parent
    package.mkdir(parents=True)
    for each in own.iterdir():
        if each.name not in {"version.py", "__pycache__"}:
            (package / each.name).symlink_to(each)
    (package / "version.py").write_text('VERSION = "9.9.9"\n')
    return folder


def job(root, name, spec="volumes.yaml", **own):
    """A job of a spec."""
    found = file_digest(root / spec)
    files = (JobFile(spec, found.digest, found.size),)
    versions = job_versions("reference", "compile")
    known = {"target": "reference", "versions": versions, "output": f"out/{name}.tpb"}
    return Job(name=name, key=f"key-{name}", model="m", spec=spec, files=files, **known | own)


def results(executor, count, meanwhile=lambda found: None):
    """The results of so many jobs."""
    found, end = {}, time.monotonic() + 120
    while len(found) < count:
        assert time.monotonic() < end
        for each in executor.completed(0.1):
            assert each.job not in found
            found[each.job] = each
        meanwhile(found)
    return found


def test_a_cluster_with_a_worker_that_is_killed_and_one_of_another_version(
    machines, root, tmp_path
):
    """Each job has one result and a right output; the other version does nothing."""
    machines.start_scheduler()
    fine = [machines.start_worker(f"w{n}", "--resources", "memory=4e9 big=1") for n in range(3)]
    machines.start_worker("old", path=other_version(tmp_path / "old"))
    names = [f"j{n}" for n in range(8)]
    with dask_executor.DaskExecutor(
        root, dask_client.Cluster(parse_address(str(machines.file)))
    ) as executor:
        executor.cluster.client.wait_for_workers(4)
        (root / executor._token).unlink()  # as on other machines: no worker sees the folder
        for name in names:
            executor.submit(job(root, name, needs=Needs(1 << 28, 1, ("big",))))
        executor.submit(job(root, "wrong", "wrong.yaml"))
        executor.submit(job(root, "nowhere", needs=Needs(0, 1, ("gpu:sm89",))))
        busy = set()

        def kill_one(found):
            busy.update(each.worker for each in executor.running())
            if len(found) >= 3 and fine[0].poll() is None:
                os.kill(fine[0].pid, signal.SIGKILL)

        found = results(executor, 10, kill_one)
        assert fine[0].wait() == -signal.SIGKILL
        workers = executor.cluster.workers()
        old = next(at for at, each in workers.items() if each["name"] == "old")
    assert {name: found[name].outcome for name in names} == dict.fromkeys(names, "done")
    for name in names:
        place = root / f"out/{name}.tpb"
        assert file_digest(place).digest == found[name].digest
        assert tripybuild.load(place).manifest["model"] == "volumes"
    assert busy
    assert old not in busy
    (wrong,) = found["wrong"].diagnostics
    assert (wrong.code, wrong.span.path, wrong.span.line) == ("unbound-name", "wrong.yaml", 5)
    (nowhere,) = found["nowhere"].diagnostics
    assert nowhere.code == "cluster-unable"
    said = "\n".join(nowhere.notes)
    assert f"`{old}`" in said
    assert "`tripybuild` is `9.9.9` there" in said
    assert "it has no `gpu:sm89`" in said
    assert not list(root.glob(".tripybuild-*"))


def test_a_scheduler_that_ends_or_has_no_workers(machines, root, monkeypatch):
    """Both are diagnostics; a job whose workers are all gone waits for another one."""
    monkeypatch.setattr(dask_client, "EMPTY", 0.2)
    scheduler = machines.start_scheduler()
    address = parse_address(str(machines.file))
    with pytest.raises(DiagnosticError) as error:
        dask_client.Cluster(address)
    assert error.value.diagnostics[0].code == "cluster-empty"
    monkeypatch.setattr(dask_client, "EMPTY", 60.0)
    monkeypatch.setattr(dask_executor, "LOST", 1.0)
    worker = machines.start_worker("w0")
    executor = dask_executor.DaskExecutor(root, dask_client.Cluster(address))
    executor.submit(job(root, "shared"))
    assert results(executor, 1)["shared"].outcome == "done"
    assert tripybuild.load(root / "out/shared.tpb").manifest["model"] == "volumes"
    worker.kill()
    executor.submit(job(root, "moved"))
    machines.start_worker("w1")
    assert results(executor, 1)["moved"].outcome == "done"
    scheduler.kill()
    executor.submit(job(root, "late"))
    with pytest.raises(DiagnosticError) as error:
        results(executor, 1)
    assert error.value.diagnostics[0].code == "cluster-lost"
    executor.close()
    machines.file.unlink()
    machines.start_scheduler()
    machines.start_worker("w2")
    with dask_executor.DaskExecutor(
        root, dask_client.Cluster(parse_address(str(machines.file)))
    ) as again:
        again.submit(job(root, "late"))
        assert results(again, 1)["late"].outcome == "done"


@pytest.mark.full
@pytest.mark.parametrize(
    "phase", ["look for the executable", "read the model", "write the executable"]
)
def test_a_worker_that_is_killed_in_each_phase(machines, root, phase):
    """The other one does the job, whatever the first had done of it."""
    machines.start_scheduler()
    workers = {n: machines.start_worker(n) for n in ("w0", "w1")}
    address = parse_address(str(machines.file))
    with dask_executor.DaskExecutor(root, dask_client.Cluster(address)) as executor:
        executor.cluster.client.wait_for_workers(2)
        names = {at: each["name"] for at, each in executor.cluster.workers().items()}
        executor._hear = lambda event, hear=executor._hear: (hear(event), kill(event[1]))
        executor.cluster.client.unsubscribe_topic(executor.build)
        killed = []

        def kill(message):
            if message["phase"] == phase and not killed:
                killed.append(message["worker"])
                os.kill(workers[names[message["worker"]]].pid, signal.SIGKILL)

        executor.cluster.client.subscribe_topic(executor.build, executor._hear)
        executor.submit(job(root, "one"))
        assert results(executor, 1)["one"].outcome == "done"
    assert len(killed) == 1
    assert tripybuild.load(root / "out/one.tpb").manifest["model"] == "volumes"


def test_cancel_ends_what_runs(machines, root):
    """Also amid a job; each has a result, and the cluster stays for others."""
    machines.start_scheduler()
    machines.start_worker("w0")
    address = parse_address(str(machines.file))
    with dask_executor.DaskExecutor(root, dask_client.Cluster(address)) as executor:
        for name in ("a", "b"):
            executor.submit(job(root, name))
        while not executor.running():
            assert not executor.completed(0.02)
        executor.cancel()
        found = results(executor, 2)
    assert {each.outcome for each in found.values()} == {"canceled"}
    assert {each.diagnostics[0].code for each in found.values()} == {"job-canceled"}
    with dask_executor.DaskExecutor(root, dask_client.Cluster(address)) as executor:
        executor.submit(job(root, "c"))
        assert results(executor, 1)["c"].outcome == "done"


def test_a_job_that_is_sent_twice_gives_one_file(root):
    """By two builds to workers of one folder: one in it, and one whose files travel."""
    address = ClusterAddress(workers=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # such as that a port is taken
        first = dask_executor.DaskExecutor(root, dask_client.Cluster(address))
    with first:
        scheduler = ClusterAddress(first.cluster.client.scheduler.address)
        with dask_executor.DaskExecutor(root, dask_client.Cluster(scheduler)) as second:
            (root / second._token).unlink()  # as from another machine
            for each in (first, second):
                each.submit(job(root, "twice"))
            found = [results(each, 1)["twice"] for each in (first, second)]
    assert [each.outcome for each in found] == ["done", "done"]
    place = root / "out/twice.tpb"
    assert {each.digest for each in found} == {file_digest(place).digest}
    assert tripybuild.load(place).manifest["model"] == "volumes"
    assert [each.name for each in (root / "out").iterdir()] == ["twice.tpb"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dask://10.0.0.1:8786", ClusterAddress("tcp://10.0.0.1:8786")),
        ("dask+tls://[::1]:8786", ClusterAddress("tls://[::1]:8786")),
        ("local:4", ClusterAddress(workers=4)),
    ],
)
def test_addresses(text, expected):
    """As `--on` takes them."""
    assert parse_address(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "10.0.0.1:8786", "dask://host", "dask://host:0", "dask://a/b:1", "ssh://h:1"),
        *("local:0", "local:x", "local:²", "dask://host:99999", "missing.json", "dask://:1"),
    ],
)
def test_what_is_no_address(text):
    """A diagnostic with the forms, or with what writes the file."""
    with pytest.raises(DiagnosticError) as error:
        parse_address(text)
    (found,) = error.value.diagnostics
    assert (found.code, bool(found.hint)) == ("cluster-address", True)


def test_nothing_answers(monkeypatch):
    """At a port where nothing listens."""
    monkeypatch.setattr(dask_client, "CONNECT", 0.3)
    with pytest.raises(DiagnosticError) as error:
        dask_client.Cluster(ClusterAddress("tcp://127.0.0.1:9"))
    assert error.value.diagnostics[0].code == "cluster-unreachable"


def test_files_are_what_their_digests_say(tmp_path, monkeypatch):
    """On the way to a worker, in its store, and back."""
    source = tmp_path / "a.yaml"
    source.write_bytes(b"one")
    one = file_digest(source)
    store = FileStore(tmp_path / "store", limit=4)
    file = JobFile("x/a.yaml", one.digest, one.size)
    assert store.lacks([file]) == [one.digest]
    with pytest.raises(DiagnosticError):
        store.add(one.digest, [b"two"])
    assert store.lacks([file]) == [one.digest]
    store.add(one.digest, read_pieces(source, one.digest))
    with store.job_folder([file]) as folder:
        assert (folder / "x/a.yaml").read_bytes() == b"one"
    assert not folder.exists()
    source.write_bytes(b"two!")
    with pytest.raises(DiagnosticError) as error:
        read_pieces(source, one.digest)
    assert error.value.diagnostics[0].code == "cluster-file"
    two = file_digest(source)
    store.add(two.digest, [b"two!"])
    with store.job_folder([JobFile("b", two.digest, 4)]):
        pass
    assert store.lacks([file]) == [one.digest]  # the limit holds, and the oldest went
    for path in ("/etc/passwd", "../x", "a/../../x", ""):
        with pytest.raises(ValueError, match="not below"):
            contained(path)
    result = JobResult("a", "k", "done", digest=one.digest, size=3)
    wanted = Job("a", "k", "m", "a.yaml", (), "reference", "out/a.tpb")
    with pytest.raises(DiagnosticError):
        write_output(tmp_path, wanted, [b"two"], result)
    assert not (tmp_path / "out/a.tpb").exists()
    write_output(tmp_path, wanted, [b"o", b"ne"], result)
    assert (tmp_path / "out/a.tpb").read_bytes() == b"one"
    await_output(tmp_path / "out/a.tpb", result)
    monkeypatch.setattr(transfer, "SEEN", 0.1)
    (tmp_path / "out/a.tpb").write_bytes(b"old")  # of the same size, from before
    for name in ("a", "b"):
        with pytest.raises(DiagnosticError):
            await_output(tmp_path / f"out/{name}.tpb", result)
