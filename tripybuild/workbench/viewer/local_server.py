"""Local server: the files of a site in memory, for browsers of this machine alone.

It listens on the loopback address, answers for the names of this machine only, so that no page from
elsewhere can read it by a name of its own, and knows no files but those that it was given.
"""

from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.workbench.viewer.page_files import INDEX, POLICY, TYPES

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")


class LocalServer(ThreadingHTTPServer):
    """A server of files.

    Args:
        files: Their contents by path.
        port: Where it listens; 0 for any that is free.

    Raises:
        DiagnosticError: The port is taken.
    """

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes], port: int = 0) -> None:
        self.files = dict(files)
        try:
            super().__init__((HOST, port), _FileHandler)
        except (OSError, OverflowError) as error:
            message = f"the port {port} cannot be listened on: {error}"
            hint = "leave out `--port` for one that is free"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint)) from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone."""

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_address[1]}/"


class _FileHandler(BaseHTTPRequestHandler):
    """Answers with a file, or with nothing."""

    server: LocalServer
    server_version, sys_version = "tripybuild", ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Send what would be said of a file."""
        self._answer(with_body=False)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal is the user's."""

    def _answer(self, *, with_body: bool) -> None:
        name, _, port = self.headers.get("Host", "").rpartition(":")
        if name not in NAMES or port != str(self.server.server_address[1]):
            self._send(HTTPStatus.FORBIDDEN, b"", "text/plain", with_body=with_body)
            return
        path = unquote(urlsplit(self.path).path).removeprefix("/") or INDEX
        content = self.server.files.get(path)
        if content is None:
            self._send(HTTPStatus.NOT_FOUND, b"", "text/plain", with_body=with_body)
            return
        kind = TYPES[PurePosixPath(path).suffix]
        self._send(HTTPStatus.OK, content, kind, with_body=with_body)

    def _send(self, status: HTTPStatus, content: bytes, kind: str, *, with_body: bool) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(content)
