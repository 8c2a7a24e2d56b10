"""How long the language server takes: each spec opened, a character typed, and requests behind it.

The times are a client's, over the pipes of `tripybuild lsp`. A problem is shown when typing has
stopped for 150 ms and the model is built; requests do not wait for that.
"""

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from table import Cell, Table, arguments, machine, median, report

SPECS = Path(__file__).resolve().parent.parent / "specs"
GOAL = 50  # milliseconds of an answer
TURNS = 5
COLUMNS = ("spec", "lines", "open ms", "problems ms", "hints ms", "hover ms", "completion ms")
REQUESTS = ("hints ms", "hover ms", "completion ms")


class Editor:
    """A client with the server that it has started."""

    def __init__(self) -> None:
        self.client = LanguageClient("benchmark", "1")
        self.versions: dict[str, int] = {}
        self.news = asyncio.Condition()

        async def take(params: types.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.versions[params.uri] = params.version or 0
                self.news.notify_all()

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(take)

    async def start(self) -> None:
        """Start the server, and wait until it has read the operators."""
        await self.client.start_io(sys.executable, "-m", "tripybuild", "lsp")
        await self.client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
        self.client.initialized(types.InitializedParams())
        document = types.TextDocumentItem("file:///warm.yaml", "yaml", 1, "tripybuild: 1\n")
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        await self.built("file:///warm.yaml", 1)

    async def built(self, uri: str, version: int) -> None:
        """Wait for the problems of a version."""
        async with self.news:
            await self.news.wait_for(lambda: self.versions.get(uri) == version)


async def took(work: Callable[[], Awaitable[Any]]) -> float:
    """The milliseconds until an answer is there."""
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1e3


async def measure(editor: Editor, path: Path, text: str) -> dict[str, Cell]:
    """The times of one spec; requests come right behind a typed character."""
    client, uri = editor.client, path.as_uri()
    document = types.TextDocumentItem(uri, "yaml", 1, text)
    lines = text.split("\n")

    async def opened() -> None:
        client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        await editor.built(uri, 1)

    row: dict[str, Cell] = {"spec": path.stem, "lines": len(lines), "open ms": await took(opened)}
    draw, found = random.Random(path.stem), {name: list[float]() for name in COLUMNS[3:]}
    places = [(at, len(line)) for at, line in enumerate(lines) if "(" in line and ":" in line]
    identifier = types.TextDocumentIdentifier(uri)
    whole = types.Range(types.Position(0, 0), types.Position(len(lines), 0))
    hints = types.InlayHintParams(identifier, whole)
    for turn in range(TURNS):
        line, column = draw.choice(places)
        lines[line] += " "
        version = turn + 2
        changed = types.VersionedTextDocumentIdentifier(version, uri)
        change = types.TextDocumentContentChangeWholeDocument("\n".join(lines))
        start = time.perf_counter()
        client.text_document_did_change(types.DidChangeTextDocumentParams(changed, [change]))
        place = types.Position(line, column)
        hover = types.HoverParams(identifier, types.Position(line, column // 2))
        complete = types.CompletionParams(identifier, place)
        asked = (
            lambda: client.text_document_inlay_hint_async(hints),
            lambda: client.text_document_hover_async(hover),  # noqa: B023 - called in this turn
            lambda: client.text_document_completion_async(complete),  # noqa: B023 - as above
        )
        for name, work in zip(REQUESTS, asked, strict=True):
            found[name].append(await took(work))
        await editor.built(uri, version)
        found["problems ms"].append((time.perf_counter() - start) * 1e3)
    client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
    return row | {name: median(times) for name, times in found.items()}


async def measure_all(texts: Mapping[Path, str]) -> list[dict[str, Cell]]:
    """The rows of all specs."""
    editor = Editor()
    await editor.start()
    rows = [await measure(editor, path, text) for path, text in texts.items()]
    await editor.client.shutdown_async(None)
    editor.client.exit(None)
    await editor.client.stop()  # type: ignore[no-untyped-call]  # of pygls
    return rows


def main() -> None:
    """Print the times."""
    options = arguments(__doc__).parse_args()
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SPECS.glob("*.yaml"))}
    rows = asyncio.run(measure_all(texts))
    worst = {name: max(float(row[name] or 0) for row in rows) for name in REQUESTS}
    slowest = ", ".join(f"{name.removesuffix(' ms')} {each:.1f}" for name, each in worst.items())
    notes = ["", f"The slowest answers: {slowest} ms; the goal is {GOAL} ms"]
    table = Table("An editor with specs", COLUMNS, rows, notes)
    report([table], machine("pygls"), options.json)


if __name__ == "__main__":
    main()
