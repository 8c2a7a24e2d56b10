"""A client of the Language Server Protocol, which speaks with `tripybuild lsp` over its pipes."""

import json
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

from lsprotocol.converters import get_converter
from lsprotocol.types import METHOD_TO_TYPES

CONVERTER = get_converter()
PATIENCE = 60  # seconds of an answer, on a machine with other work


class RefusedError(Exception):
    """The server answered with an error, which has a code."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    """One client and its server; what the server prints beside messages makes it fail."""

    def __init__(self, folder: Path, *, encodings=("utf-16",), command=None):
        command = command or [sys.executable, "-m", "tripybuild", "lsp"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.folder, self.number, self.answers = folder, 0, {}
        self.published, self.news = {}, threading.Condition()
        self.strange: deque[str] = deque()
        self.versions: dict[str, int] = {}
        threading.Thread(target=self._listen, daemon=True).start()
        general = {"positionEncodings": list(encodings)}
        capabilities = {
            "general": general,
            "workspace": {"inlayHint": {"refreshSupport": True}},
            "textDocument": {"completion": {"completionItem": {"snippetSupport": True}}},
        }
        found = self.ask("initialize", processId=None, rootUri=None, capabilities=capabilities)
        self.capabilities = found["capabilities"]
        self.tell("initialized")

    def _listen(self):
        stream = self.process.stdout
        while header := stream.readline():
            name, _, size = header.decode().partition(":")
            if name != "Content-Length":
                self.strange.append(header.decode(errors="replace"))
                continue
            while stream.readline().strip():
                pass
            self._take(json.loads(stream.read(int(size))))

    def _take(self, message):
        with self.news:
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                self.published[params["uri"], params["version"]] = params["diagnostics"]
            elif "id" in message:
                self.answers[message["id"]] = message
            self.news.notify_all()

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method, **params):
        self._send({"method": method, "params": params})

    def ask(self, method, **params):
        """The result of a request."""
        self.number += 1
        number = self.number
        self._send({"id": number, "method": method, "params": params})
        with self.news:
            assert self.news.wait_for(lambda: number in self.answers, PATIENCE), method
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RefusedError(answer["error"])
        CONVERTER.structure(answer, METHOD_TO_TYPES[method][1])  # it is as the protocol says
        return answer["result"]

    # --- files ---

    def uri(self, name):
        return (self.folder / name).absolute().as_uri()

    def write(self, name, text):
        """Open a file with a text that is not on disk, or change it, and wait for its problems."""
        uri = self.uri(name)
        version = self.versions[uri] = self.versions.get(uri, 0) + 1
        if version == 1:
            item = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
            self.tell("textDocument/didOpen", textDocument=item)
        else:
            item = {"uri": uri, "version": version}
            changes = [{"text": text}]
            self.tell("textDocument/didChange", textDocument=item, contentChanges=changes)
        return uri, version

    def problems(self, name, text):
        """What the server says is wrong with a text."""
        key = self.write(name, text)
        with self.news:
            assert self.news.wait_for(lambda: key in self.published, PATIENCE), name
            return self.published[key]

    def at(self, method, name, line, character, **params):
        """The result of a request about a place."""
        place = {"line": line, "character": character}
        document = {"uri": self.uri(name)}
        return self.ask(f"textDocument/{method}", textDocument=document, position=place, **params)

    def hints(self, name, lines=100_000):
        """The hints of a file: their texts by line."""
        span = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}
        document = {"uri": self.uri(name)}
        found = self.ask("textDocument/inlayHint", textDocument=document, range=span)
        return {each["position"]["line"]: each["label"] for each in found}

    def close(self):
        """End the server as the protocol says, and give its exit code."""
        self.ask("shutdown")
        self.tell("exit")
        code = self.process.wait(PATIENCE)
        self.process.stdin.close()
        self.process.stdout.close()
        return code
