"""What a shared cache saves: to compile, to find here, and to take from a store and verify.

Each call is a process of its own, `tripybuild compile` with an empty cache of its machine, and says
the seconds that the command counts: without the start of Python. The stores are on this machine, so
a network's time is not in it.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from table import Cell, Table, arguments, best, machine, report

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "helpers"))
Job = tuple[str, str]  # a spec and a target
JOBS: tuple[Job, ...] = (
    ("digits", "cpu:xla"),
    ("minilm", "cpu:xla"),
    ("digits", "tensorrt-rtx:sm89"),
    ("minilm", "tensorrt-rtx:sm89"),
)
SIZES = (46_000, 356_000, 95_500_000)  # digits and MiniLM by XLA, MiniLM by TensorRT
TRANSFERS = ("fetch and verify", "folder ms", "http ms", "s3 ms")
COLUMNS = ("job", "stored MB", "compile s", "here s", "folder s", "http s", "s3 s")


class Objects(BaseHTTPRequestHandler):
    """Objects by path, in memory."""

    protocol_version = "HTTP/1.1"
    held: dict[str, bytes] = {}

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        content = self.held.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def do_PUT(self) -> None:
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        self.held[self.path] = b"".join(pieces)
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()


def compile_once(
    folder: Path, job: Job, cache: Path, remote: str | None = None, mode: str = "read"
) -> tuple[float, set[str]]:
    """The seconds of one command, and what its cache had."""
    spec, target = job
    environment = {
        **os.environ,
        "TRIPYBUILD_CACHE_DIR": str(cache),
        "TRIPYBUILD_REMOTE_CACHE": remote or "",
        "TRIPYBUILD_REMOTE_CACHE_MODE": mode,
        "TRIPYBUILD_REMOTE_CACHE_TIMEOUT": "60",
    }
    command = [sys.executable, "-m", "tripybuild", "compile", str(ROOT / f"specs/{spec}.yaml")]
    command += ["--target", target, "-o", str(folder / "x.tpb"), "--json", "--explain-cache"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return answer["seconds"], {each["outcome"] for each in answer["cache"]}


def stores(folder: Path, held: ExitStack) -> dict[str, str]:
    """The addresses of the stores by name."""
    from object_store import BUCKET, object_store

    os.environ.update(held.enter_context(object_store()))
    import s3fs

    s3fs.S3FileSystem().mkdir(BUCKET)
    server = held.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Objects))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    held.callback(server.shutdown)
    address = f"http://127.0.0.1:{server.server_port}/team"
    return {"folder": str(folder / "store"), "http": address, "s3": f"s3://{BUCKET}/team"}


def row(folder: Path, job: Job, addresses: dict[str, str], repeats: int) -> dict[str, Cell]:
    """What was measured of a job: the best of some calls of each kind."""
    times: dict[str, list[float]] = {}

    def measure(name: str, expected: str, remote: str | None = None) -> None:
        for number in range(repeats):
            cache = folder / ("compile0" if expected == "hit" else f"{name}{number}")
            seconds, outcomes = compile_once(folder, job, cache, remote)
            assert outcomes == {expected}, (job, name, outcomes)
            times.setdefault(name, []).append(seconds)

    before = _stored(folder.parent / "store")
    measure("compile", "miss")
    measure("here", "hit")
    for name, address in addresses.items():
        compile_once(folder, job, folder / f"{name}-filled", address, "read-write")
        measure(name, "fetched", remote=address)
    size = _stored(folder.parent / "store") - before
    shown = {f"{name} s": min(found) for name, found in times.items()}
    return {"job": " ".join(job), "stored MB": size / 1e6, **shown}


def _stored(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def transfer(size: int, addresses: dict[str, str], repeats: int) -> dict[str, Cell]:
    """Take a content from each store, hash it and write it, in this process."""
    from tripybuild.artifact.members import measure
    from tripybuild.cache.keys import key
    from tripybuild.cache.records import new_record
    from tripybuild.cache.remote import Remote
    from tripybuild.cache.remote_settings import RemoteSettings

    content = os.urandom(size)
    record = new_record(
        key({"what": "benchmark", "content": content}), size, measure(content).digest
    )
    found: dict[str, Cell] = {"fetch and verify": f"{size / 1e6:.2f} MB"}
    for store, address in addresses.items():
        remote = Remote(RemoteSettings(address, can_write=True, timeout=60.0))
        assert remote.upload(record, content) == ()

        def fetch(remote: Remote = remote) -> None:
            with tempfile.TemporaryFile() as stream:
                assert remote.fetch(record.key, stream, size).record is not None

        found[f"{store} ms"] = best(fetch, repeats) * 1000
    return found


def main() -> None:
    """Measure all jobs."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--transfers", action="store_true", help="measure these alone")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as held:
        addresses = stores(Path(folder), held)
        transfers = [transfer(size, addresses, 7) for size in SIZES]
        for number, job in enumerate(() if options.transfers else JOBS):
            own = Path(folder) / str(number)
            own.mkdir()
            rows.append(row(own, job, addresses, options.repeats))
    tables = [Table("A shared cache", COLUMNS, rows), Table("Transfers", TRANSFERS, transfers)]
    report(tables[options.transfers :], machine("jaxlib", "fsspec"), options.json)


if __name__ == "__main__":
    main()
