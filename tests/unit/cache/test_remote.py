"""The remote cache: a folder, a server of HTTP, one of S3; honest, lying, slow, dead and full."""

import errno
import gzip
import http.server
import os
import subprocess
import sys
import threading
import time
from hashlib import sha256

import pytest
import s3fs
from object_store import BUCKET, object_store

from tripybuild.artifact.members import measure, read_content
from tripybuild.cache import remote as module
from tripybuild.cache.envelope import MAGIC, envelope_pieces
from tripybuild.cache.files import PlanCache
from tripybuild.cache.keys import key
from tripybuild.cache.outputs import OutputCache
from tripybuild.cache.records import EntryRecord, entry_origin
from tripybuild.cache.remote_settings import MODE, TIMEOUT, URL, RemoteSettings, remote_settings
from tripybuild.cache.store import Cache
from tripybuild.errors.diagnostics import DiagnosticError

KEY, OTHER = (key({"what": "test", "name": name}) for name in "ab")
LARGE = os.urandom(3 << 20)


def unexpected(*_):
    """Fail: the content is there."""
    pytest.fail("it is there")


def file_writer(content):
    """A writer of a content behind the bytes that are left free."""

    def write(path, start):
        with path.open("r+b") as file:
            file.seek(start)
            file.write(content)
        return measure(content)

    return write


@pytest.fixture
def use(monkeypatch):
    """Let the environment name a remote, for what is opened next."""

    def use(url, mode="read-write", timeout="5"):
        for name, value in {URL: str(url), MODE: mode, TIMEOUT: timeout}.items():
            monkeypatch.setenv(name, value)
        module._remote_of.cache_clear()

    yield use
    module._remote_of.cache_clear()


class Handler(http.server.BaseHTTPRequestHandler):
    """Objects by path, as a plain cache server has them; faults by attributes of the server."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        self.server.asked.append(self.path)
        fault = self.server.fault
        if fault == "silent":
            self.server.released.wait(20)
            return
        content = self.server.objects.get(self.path)
        if fault == "redirect" and not self.path.startswith("/other"):
            self.send_response(302)
            self.send_header("Location", "/other" + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        status = fault if isinstance(fault, int) else 404 if content is None else 200
        self.send_response(status)
        body = (content or b"") if status == 200 else b""
        self.send_header("Content-Length", str(1 << 32 if fault == "stall" else len(body)))
        if fault == "gzip":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if fault == "stall":
            self.wfile.write(body)
            self.server.released.wait(20)
            return
        if fault == "drip":
            for at in range(len(body)):
                self.wfile.write(body[at : at + 1])
                self.wfile.flush()
                if self.server.released.wait(0.2):
                    return
        self.wfile.write(body)

    def do_PUT(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        full = self.server.fault == "full"
        if not full:
            self.server.objects[self.path] = body
        self.send_response(507 if full else 201)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def server():
    """A server of HTTP on this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        served.daemon_threads, served.block_on_close = True, False
        served.objects, served.asked, served.fault = {}, [], None
        served.released = threading.Event()
        served.url = f"http://127.0.0.1:{served.server_port}/team"
        thread = threading.Thread(target=served.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield served
        served.released.set()
        served.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def bucket():
    """The address of a bucket; the environment says how it is reached."""
    with object_store() as settings, pytest.MonkeyPatch.context() as environment:
        for name, value in settings.items():
            environment.setenv(name, value)
        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(BUCKET)
        yield f"s3://{BUCKET}/team"


@pytest.fixture(params=["folder", "http", "s3"])
def store(request, tmp_path):
    """A store of each kind: its address, and what gives the objects that are in it."""
    if request.param == "folder":
        root = tmp_path / "store"
        return root, lambda: {p.name: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    if request.param == "http":
        served = request.getfixturevalue("server")
        return served.url, lambda: served.objects
    url = request.getfixturevalue("bucket")
    files = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    return url, lambda: {each: files.cat(each) for each in files.find(url)}


def test_what_one_machine_makes_another_takes(store, use, tmp_path):
    """Bytes and files, with their records; only where the first may write."""
    url, objects = store
    use(url)
    one = tmp_path / "one"
    with entry_origin({"spec": "digits.yaml"}):
        assert Cache(one, shared=True).get_or_make(KEY, lambda: b"content").warnings == ()
        made = PlanCache(one, shared=True).get_or_write(OTHER, file_writer(LARGE))
    assert made.warnings == ()
    assert len(objects()) == 2
    use(url, mode="read")
    two = tmp_path / "two"
    found = Cache(two, shared=True).get_or_make(KEY, unexpected)
    assert (found.content, found.hit, found.warnings) == (b"content", True, ())
    file = PlanCache(two, shared=True).get_or_write(OTHER, unexpected)
    assert read_content(file.part) == LARGE
    assert file.member == made.member
    assert Cache(two).find_record(KEY).origin == {"spec": "digits.yaml"}
    assert Cache(two).get(KEY) == b"content", "and it is there without the remote"
    new = key({"what": "test", "name": "c"})
    assert Cache(two, shared=True).get_or_make(new, lambda: b"new").warnings == ()
    assert len(objects()) == 2, "it is read alone"


def test_whole_files_travel_once(use, tmp_path):
    """What one machine built, another writes to its own place."""
    use(tmp_path / "store")
    built, place = tmp_path / "built.tpb", tmp_path / "two" / "own.tpb"
    built.write_bytes(LARGE)
    place.parent.mkdir()
    one, two = (OutputCache(tmp_path / name, shared=True) for name in ("cache1", "cache2"))
    assert not one.restore(KEY, place).is_there
    assert one.keep(KEY, built, 2.5, {"spec": "digits.yaml"}) == ()
    assert built.read_bytes() == LARGE
    outcomes = [two.restore(KEY, place).outcome, two.restore(KEY, place).outcome]
    assert outcomes == ["fetched", "hit"]
    assert place.read_bytes() == LARGE
    assert two.find_record(KEY).origin == {"spec": "digits.yaml"}
    (warning,) = one.keep(OTHER, tmp_path / "none.tpb")
    assert warning.code == "cache-unwritable"
    with pytest.raises(DiagnosticError):
        two.restore(KEY, tmp_path / "no folder" / "x.tpb")
    assert not list(tmp_path.rglob("*.part"))


def test_a_cache_that_is_not_shared_asks_nothing(server, use, tmp_path):
    use(server.url)
    Cache(tmp_path).get_or_make(KEY, lambda: b"content")
    assert server.asked == []
    assert server.objects == {}


def record_of(content, *, of=KEY, **changed):
    """The record of a content."""
    found = {"size": len(content), "digest": measure(content).digest} | changed
    return EntryRecord(of, {}, 0.0, 0.0, **found)


def envelope(content, **changed):
    """The envelope of a content, which may be a lie."""
    return b"".join(envelope_pieces(record_of(content, **changed), content))


def enclosed(record):
    """An envelope whose record has the right digest, whatever it is."""
    return MAGIC + len(record).to_bytes(4, "little") + sha256(record).digest() + record + b"content"


def lies():
    """Envelopes that no honest machine would have stored under the key, by what is wrong."""
    good = envelope(b"content")
    yield "another key", envelope(b"content", of=OTHER)
    yield "another content", good[:-7] + b"CONTENT"
    yield "truncated", good[:-1]
    yield "no record", good[: len(MAGIC) + 4]
    yield "empty", b""
    yield "a page", b"<html>sign in</html>"
    yield "huge", envelope(b"content", size=1 << 50)
    yield "a long record", MAGIC + b"\xff" * 4 + good
    record = record_of(b"content").encode()
    yield "other parts", enclosed(record.replace(b'["text", "a"]', b'["text", "x"]'))
    yield "the end of time", enclosed(record.replace(b'"created": 0.0', b'"created": 1e999'))
    yield "nested", enclosed(b"[" * 8000)
    for bit in range(0, len(good) * 8, 61):
        flipped = bytearray(good)
        flipped[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit}", bytes(flipped)


def test_lies_are_never_used(server, use, tmp_path):
    """Each is one warning; the content is made here, and takes the place of the lie."""
    path = f"/team/v1/{KEY[:2]}/{KEY[2:]}"
    for number, (what, lie) in enumerate(lies()):
        use(server.url)
        server.objects[path] = lie
        found = Cache(tmp_path / str(number), shared=True).get_or_make(KEY, lambda: b"own")
        assert (found.content, found.hit) == (b"own", False), what
        assert [each.code for each in found.warnings] == ["cache-remote"], what
        assert server.objects[path] == b"".join(
            envelope_pieces(Cache(tmp_path / str(number)).find_record(KEY), b"own")
        ), what
    assert number > 40


def test_one_that_lies_is_not_believed_for_ever(server, use, tmp_path):
    """After three lies it is asked no more, and only the first is told."""
    use(server.url, mode="read")
    warnings = []
    for number in range(5):
        asked = key({"what": "test", "name": str(number)})
        server.objects[f"/team/v1/{asked[:2]}/{asked[2:]}"] = b"<html>"
        warnings += Cache(tmp_path, shared=True).get_or_make(asked, lambda: b"own").warnings
    assert len(warnings) == 1
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("silent", "it does not answer"),
        ("drip", "it does not answer"),
        (500, "HTTP status 500"),
        (403, "HTTP status 403"),
        ("redirect", "it ends early"),
        ("stall", "it does not answer"),
        ("gzip", "it is not an entry of a cache"),
        ("full", "HTTP status 507"),
    ],
)
def test_a_bad_server_costs_one_warning(server, use, tmp_path, monkeypatch, fault, words):
    """Whatever it does: what is needed is made, in little more than the limit of time."""
    path = f"/team/v1/{KEY[:2]}/{KEY[2:]}"
    good = envelope(b"content" * 1000)
    if fault == "stall":  # it says that most of it is yet to come
        good = envelope(b"content", size=3 << 30)
    if fault == "gzip":
        good = gzip.compress(good)
    server.objects |= {path: good, f"/other{path}": good}
    if fault == "full":
        server.objects.clear()
    server.fault = fault
    use(server.url, timeout="0.4")
    start, warnings = time.monotonic(), []
    for each in (KEY, OTHER, key({"name": "c"})):
        found = Cache(tmp_path, shared=True).get_or_make(each, lambda: b"own")
        assert found.content == b"own"
        warnings += found.warnings
    (warning,) = warnings
    assert words in warning.message
    assert time.monotonic() - start < 3
    assert not any(each.startswith("/other") for each in server.asked), "no redirect is followed"


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "s3://no-such-bucket-here/x", "zz://x/y"])
def test_a_remote_that_is_not_there_costs_one_warning(bucket, use, tmp_path, url):
    """A port where nothing listens, a bucket that does not exist, a protocol that nothing reads."""
    use(url)
    found = [
        Cache(tmp_path, shared=True).get_or_make(each, lambda: b"own") for each in (KEY, OTHER)
    ]
    assert [each.content for each in found] == [b"own", b"own"]
    assert [w.code for each in found for w in each.warnings] == ["cache-remote"]


def test_a_folder_that_is_missing_full_or_full_of_tricks(use, tmp_path, monkeypatch):
    """Links to devices and pipes are read no further than a record may be long."""
    use(tmp_path / "none", mode="read")
    (warning,) = Cache(tmp_path / "a", shared=True).get_or_make(KEY, lambda: b"own").warnings
    assert "there is no folder" in warning.message
    root = tmp_path / "store"
    place = root / "v1" / KEY[:2] / KEY[2:]
    place.parent.mkdir(parents=True)
    for number, trick in enumerate(
        [lambda: place.symlink_to("/dev/zero"), lambda: os.mkfifo(place)]
    ):
        trick()
        use(root, mode="read", timeout="0.3")
        made = Cache(tmp_path / f"t{number}", shared=True).get_or_make(KEY, lambda: b"own")
        assert (made.content, len(made.warnings)) == (b"own", 1)
        place.unlink()

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "atomic_write", fail)
    use(root)
    (warning,) = Cache(tmp_path / "f", shared=True).get_or_make(KEY, lambda: b"own").warnings
    assert "No space left" in warning.message
    assert not [p for p in root.rglob("*") if p.is_file()]


def test_a_missing_package_is_named_with_what_installs_it(use, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    use("s3://models/team")
    (warning,) = Cache(tmp_path, shared=True).get_or_make(KEY, lambda: b"own").warnings
    assert "`fsspec` is not installed" in warning.message
    assert warning.hint == "`pip install 'tripybuild[remote]' s3fs`"


def test_secrets_of_an_address_are_never_shown(use, tmp_path):
    """Not in the address, and not where a library repeats it."""
    use("http://annette:hunter2@127.0.0.1:9/x?sig=t0p%2Fsecret", timeout="2")
    (warning,) = Cache(tmp_path, shared=True).get_or_make(KEY, lambda: b"own").warnings
    assert "http://127.0.0.1:9/x" in warning.message
    for secret in ("annette", "hunter2", "t0p", "secret"):
        assert secret not in str(warning), secret
    settings = RemoteSettings("https://u:pa%20ss@h/x?token=abc123")
    words = settings.reason(
        ValueError("GET https://u:pa%20ss@h/x?token=abc123 (pa ss, abc123)\x1b")
    )
    assert words == "ValueError: GET https://h/x (***, ***)"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (MODE, "write"),
        (TIMEOUT, "soon"),
        (TIMEOUT, "nan"),
        (TIMEOUT, "0"),
        (URL, "a::b"),
        (URL, "cache"),
    ],
)
def test_settings_that_cannot_be_are_refused(use, monkeypatch, name, value):
    use("s3://models")
    monkeypatch.setenv(name, value)
    with pytest.raises(DiagnosticError) as caught:
        remote_settings()
    assert caught.value.diagnostics[0].code == "wrong-value"


def test_machines_may_have_other_clocks(use, tmp_path, monkeypatch):
    """An entry of the future, or of 1970, is as good as any, and is not swept before its time."""
    use(tmp_path / "store")
    for number, now in enumerate((4e9, 1.0)):
        asked = key({"what": "test", "name": str(number)})
        with monkeypatch.context() as at:
            at.setattr(time, "time", lambda now=now: now)
            Cache(tmp_path / "one", shared=True).put(asked, b"content")
        two = Cache(tmp_path / "two", shared=True)
        assert two.get(asked) == b"content"
        assert abs(two.entry_path(asked).stat().st_mtime - time.time()) < 60


def test_two_versions_share_one_remote(use, tmp_path):
    """What the one makes has another key for the other; what neither can read is left alone."""
    use(tmp_path / "store")
    versions = [key({"what": "test", "module": "m", "jaxlib": v}) for v in ("0.10", "0.12")]
    for number, asked in enumerate(versions):
        made = Cache(tmp_path / str(number), shared=True).get_or_make(
            asked, lambda number=number: bytes([number])
        )
        assert not made.hit
    for number, asked in enumerate(versions):
        found = Cache(tmp_path / "third", shared=True).get_or_make(asked, unexpected)
        assert found.content == bytes([number])
    newer = tmp_path / "store" / "v2"
    newer.mkdir()
    assert Cache(tmp_path / "third", shared=True).get_or_make(KEY, lambda: b"").warnings == ()


def test_a_writer_that_is_killed_leaves_nothing_to_read(use, tmp_path):
    """A folder has all of an entry or none of it."""
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from tripybuild.cache import remote\nfrom tripybuild.cache.keys import key\n"
        "from tripybuild.cache.store import Cache\n"
        "def die(*_):\n    yield b'tbentry1'\n    os.kill(os.getpid(), 9)\n"
        "remote.envelope_pieces = die\n"
        "Cache(Path(sys.argv[1]), shared=True).put(key({'what': 'test', 'name': 'a'}), b'content')"
    )
    use(tmp_path / "store")
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "one"], check=False)
    assert done.returncode == -9
    found = Cache(tmp_path / "two", shared=True).get_or_make(KEY, lambda: b"own")
    assert (found.hit, found.warnings) == (False, ())
    assert Cache(tmp_path / "three", shared=True).get_or_make(KEY, unexpected).content == b"own"
