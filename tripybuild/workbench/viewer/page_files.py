"""Page files: Model Explorer's page with our graphs, as the files of a static site.

The page is that of a distribution on PyPI, of which nothing is imported. Only the files that were
looked at are served: their digest is pinned here. The fonts that it would fetch are left out, and a
policy forbids whatever is not in the site.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.workbench.drawing.drawing import Drawing
from tripybuild.workbench.drawing.model_explorer import collection, dtype_data, node_data
from tripybuild.workbench.drawing.overlays import NodeValues

PACKAGE, FOLDER = "model_explorer", "web_app"
REQUIREMENT = "ai-edge-model-explorer==0.1.34"
DIGEST = "129b1ee8e8a2e1a603f8b842f98dd79f65478bdbf97fdfd0f4b356e6b9eab2b6"
INDEX, BRIDGE = "index.html", "bridge.js"
# Scripts, styles, fonts and data of the site itself; WebGL's textures are blobs.
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self' data: blob:; base-uri 'self'; form-action 'none'"
)
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


def page_files(
    drawings: Iterable[Drawing], columns: Mapping[str, Iterable[NodeValues]]
) -> dict[str, bytes]:
    """The files of the site by their paths.

    Args:
        drawings: The graphs of a model.
        columns: Numbers beside the nodes of each graph, by the graphs' labels.

    Raises:
        DiagnosticError: Model Explorer is not installed, or is not the version that was looked at.
    """
    several = list(drawings)
    files = _assets()
    graphs = collection(several)
    dtypes = {name: each for one in several for name, each in dtype_data(one).items()}
    data = [dtypes, *reversed(node_data(columns))]  # the page shows the last one first
    files["graphs.json"] = _json({"graphCollections": [graphs]})
    for index, each in enumerate(data):
        files[f"node_data_{index}.json"] = _json({"content": json.dumps(each)})
    files[INDEX] = _index(files[INDEX].decode(), graphs["label"], [_name(each) for each in data])
    files[BRIDGE] = Path(__file__).with_name(BRIDGE).read_bytes()
    return files


def _assets() -> dict[str, bytes]:
    """The files of Model Explorer's page.

    Raises:
        DiagnosticError: See above.
    """
    found = find_spec(PACKAGE)
    folder = None if found is None or found.origin is None else Path(found.origin).parent / FOLDER
    hint = (
        f"`pip install --no-deps {REQUIREMENT}` takes 2 MB; "
        "`pip install 'tripybuild[view]'` takes what it names as its own needs, too"
    )
    if folder is None or not folder.is_dir():
        message = "the page that shows graphs, Model Explorer's, is not installed"
        raise DiagnosticError(Diagnostic("not-installed", message, hint=hint))
    paths = sorted(each for each in folder.rglob("*") if each.suffix in TYPES)
    files = {each.relative_to(folder).as_posix(): each.read_bytes() for each in paths}
    if assets_digest(files) != DIGEST:
        message = f"the files of Model Explorer are not those of `{REQUIREMENT}`"
        raise DiagnosticError(Diagnostic("not-installed", message, hint=hint))
    return files


def assets_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 over paths and contents."""
    whole = sha256()
    for path, content in sorted(files.items()):
        whole.update(f"{path}\n{sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest()


def _index(text: str, model: str, names: Iterable[str]) -> bytes:
    """The page without what it would fetch from elsewhere, and with what it is to show."""
    columns = [f"node_data://{name}/{index}" for index, name in enumerate(names)]
    shown: dict[str, Any] = {"models": [{"url": f"graphs://{model}/0"}], "nodeData": columns}
    shown["nodeDataTargets"] = [""] * len(columns)
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="tripybuild-data" content="{html.escape(json.dumps(shown))}">'
        f'<script src="{BRIDGE}"></script>'
    )
    text = re.sub(r"@font-face\{[^}]*https://fonts\.gstatic\.com[^}]*\}", "", text)
    text = re.sub(r'<link rel="preconnect"[^>]*>', "", text)
    text = text.replace("""media="print" onload="this.media='all'\"""", "")
    text = text.replace("<title>Model Explorer</title>", f"<title>{html.escape(model)}</title>")
    return text.replace("<head>", f"<head>{head}", 1).encode()


def _name(data: Mapping[str, Any]) -> str:
    """What a column is called."""
    return str(next(iter(data.values()))["name"])


def _json(data: object) -> bytes:
    return json.dumps(data).encode()
