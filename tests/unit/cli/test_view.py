"""`tripybuild view`: Model Explorer's page in a real browser, and what its server refuses."""

import http.client
import json
import sys
import threading
from importlib.util import find_spec
from io import BytesIO

import headless_browser
import pytest
from block_specs import block_spec

from tripybuild.cli.main import main
from tripybuild.workbench.drawing.model_source import spec_drawings
from tripybuild.workbench.drawing.overlays import costs
from tripybuild.workbench.viewer import page_files as viewer
from tripybuild.workbench.viewer.local_server import LocalServer

needs_page = pytest.mark.skipif(
    find_spec(viewer.PACKAGE) is None, reason="ai-edge-model-explorer is not installed"
)
SPEC = block_spec(8, 8, opt=4, most=32)
CENTER = """(() => {{
  const found = [...document.querySelectorAll({selector})].find((e) => {test});
  const box = found.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}})()"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "readers.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def serve():
    """Serves files until the test ends; gives the server."""
    opened = []

    def start(files):
        server = LocalServer(files)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        opened.append(server)
        return server

    yield start
    for server in opened:
        server.shutdown()
        server.server_close()


def asked(server, path, host=None, method="GET"):
    connection = http.client.HTTPConnection(*server.server_address, timeout=10)
    connection.request(method, path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def test_the_server_has_its_files_alone_and_answers_this_machine_alone(serve):
    server = serve({"index.html": b"<p>here</p>", "a/b.json": b"{}"})
    status, content, headers = asked(server, "/")
    assert (status, content) == (200, b"<p>here</p>")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert server.server_address[0] == "127.0.0.1"
    for path in ("/../index.html", "/a/../index.html", "/%2e%2e/etc/passwd", "/a"):
        assert asked(server, path)[0] == 404, path
    assert asked(server, "/a/b.json?x=1")[1] == b"{}"
    for host in ("evil.example", f"evil.example:{server.server_address[1]}", "127.0.0.1"):
        assert asked(server, "/", host)[0] == 403, host
    assert asked(server, "/", f"localhost:{server.server_address[1]}")[0] == 200
    assert asked(server, "/", method="POST")[0] == 501


@needs_page
def test_the_page_is_exported_as_a_folder(spec, tmp_path, monkeypatch, capsys):
    def call(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", "view", str(spec), *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, "".join(capsys.readouterr())

    folder = tmp_path / "site"
    assert call("--export", str(folder))[0] == 0
    graphs = json.loads((folder / "graphs.json").read_text())["graphCollections"][0]["graphs"]
    assert any(node["namespace"] == "blocks/1/up" for node in graphs[0]["nodes"])
    page = (folder / "index.html").read_text()
    assert "https://fonts" not in page
    assert "onload=" not in page
    code, said = call("--export", str(folder))
    assert (code, "is not an empty folder" in said) == (1, True)
    monkeypatch.setattr(viewer, "DIGEST", "0" * 64)
    code, said = call("--export", str(tmp_path / "other"))
    assert code == 1
    assert "pip install --no-deps ai-edge-model-explorer==" in said
    monkeypatch.setattr(viewer, "PACKAGE", "no_such_package")
    assert "is not installed" in call("--export", str(tmp_path / "other"))[1]


@needs_page
def test_a_browser_draws_the_parts_and_opens_the_one_that_is_clicked(spec, serve, tmp_path):
    """In headless Chromium, which can reach nothing but this machine."""
    program = headless_browser.find_browser()
    if program is None:
        pytest.skip("this system has no program `chromium`")
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    drawings = list(spec_drawings(spec).values())
    server = serve(viewer.page_files(drawings, {each.label: [costs(each)] for each in drawings}))
    with headless_browser.headless_page(program, tmp_path / "profile") as page:
        page.ask("Page.navigate", url=server.url)
        page.wait("document.body.innerText.includes('Root-level nodes stats')")
        row = CENTER.format(selector="'td'", test="e.innerText === 'blocks'")
        page.wait(f"document.body.innerText.includes('FLOPs') && {row}")
        before = page.screenshot()
        page.click(*page.evaluate(row))  # the part moves into the middle
        middle = page.evaluate(CENTER.format(selector="'canvas'", test="e.clientWidth > 300"))
        page.wait("new Promise((then) => setTimeout(() => then(true), 1000))")
        page.click(*middle)
        page.wait("document.body.innerText.includes('namespace')")
        said = page.evaluate("document.body.innerText")
        after = page.screenshot()
        assert not page.problems, page.problems
        assert all(url.startswith((server.url, "blob:", "data:")) for url in page.requests)
    assert "operations" in said
    for each in (before, after):
        colors = image.open(BytesIO(each)).convert("RGB").getcolors(1 << 24)
        assert len(colors) > 100, "nothing is drawn"
    assert before != after
