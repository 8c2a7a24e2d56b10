"""Server: requests of the protocol, answered from what is known; builds run in one other thread.

Texts come as a whole with each change: a client and a server that count lines differently, as at a
form feed, would otherwise have different texts.
"""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from tripybuild.language_server import completion, repairs
from tripybuild.language_server.requests import add_requests
from tripybuild.language_server.workspace import Workspace, analysis_findings
from tripybuild.version import VERSION

NAME = "tripybuild"
QUIET = 0.15  # seconds without a change, after which a file is built
HOST = "127.0.0.1"


class AnsweredProtocol(LanguageServerProtocol):
    """The protocol, in which a request whose parameters are none of its own has an answer, too."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The message that an object says; a request that is refused is answered here."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" not in data or "method" not in data:
                raise
            cause = error.__cause__
            reasons = transform_error(cause) if cause is not None else []
            message = f"invalid parameters of `{data['method']}`: {'; '.join(reasons)}"
            refusal = JsonRpcInvalidParams(message).to_response_error()
            self._send_response(data["id"], None, refusal)
            return types.SetTraceNotification(types.SetTraceParams(types.TraceValue.Off))


class SpecServer(LanguageServer):
    """The language server of one client."""

    def __init__(self) -> None:
        super().__init__(
            NAME,
            VERSION,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=AnsweredProtocol,
            max_workers=2,
        )
        self.files = Workspace()
        self.builds = ThreadPoolExecutor(1, thread_name_prefix="build")
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    def take_text(self, uri: str, text: str, version: int, delay: float = QUIET) -> None:
        """Take a text, and build it and what uses it when nothing more comes."""
        file = self.files.set_text(uri, text, version)
        if file is None:
            return
        if file.analysis.kind is None:
            self.publish(uri, [], version)
            return
        self.build_later(uri, delay)
        for user in list(self.files.users_of(file.path)):
            self.build_later(user.uri, delay + QUIET)

    def build_later(self, uri: str, delay: float) -> None:
        """Build a file after some seconds, unless it is changed before."""
        if uri in self.waiting:
            self.waiting.pop(uri).cancel()
        loop = asyncio.get_running_loop()
        self.waiting[uri] = loop.call_later(delay, self._start_build, uri)

    def _start_build(self, uri: str) -> None:
        self.waiting.pop(uri, None)
        file = self.files.get(uri)
        if file is not None:
            texts, version = self.files.texts(), file.version
            loop = asyncio.get_running_loop()
            future = loop.run_in_executor(self.builds, analysis_findings, file.analysis, texts)
            task = loop.create_task(self._finish_build(uri, version, future))
            self.tasks.add(task)  # a loop itself does not keep it
            task.add_done_callback(self.tasks.discard)

    async def _finish_build(self, uri: str, version: int, future: "asyncio.Future[Any]") -> None:
        try:
            findings = await future
        except Exception:
            logging.getLogger(__name__).exception("a build of %s ended", uri)
            return
        file = self.files.keep(uri, findings)
        if file is not None and file.version == version:
            self.publish(uri, repairs.shown_problems(file), version)
            self._refresh()

    def publish(self, uri: str, problems: list[types.Diagnostic], version: int) -> None:
        """Show problems of a version."""
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, problems, version)
        )

    def _refresh(self) -> None:
        """Have the client ask for hints again, where it can."""
        asked = self.client_capabilities.workspace
        if asked is not None and asked.inlay_hint is not None and asked.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None, callback=_ignore)


def _ignore(_answer: object) -> None:
    """The answer to a refresh says nothing."""


def make_server() -> SpecServer:
    """A server with all features."""
    server = SpecServer()
    _add_synchronization(server)
    add_requests(server, server.files)
    return server


def _add_synchronization(server: SpecServer) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        server.files.encoding = str(
            getattr(server.workspace.position_encoding, "value", server.workspace.position_encoding)
        )
        server.builds.submit(completion.warm_signatures)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        each = params.text_document
        server.take_text(each.uri, each.text, each.version, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        each = params.text_document
        server.take_text(each.uri, params.content_changes[-1].text, each.version)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        if server.files.get(params.text_document.uri) is not None:
            server.build_later(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.files.close(uri)
        server.publish(uri, [], 0)


def _is_event(record: logging.LogRecord) -> bool:
    found = record.exc_info[1] if record.exc_info else None
    return getattr(found, "code", None) != types.LSPErrorCodes.RequestFailed


def serve(port: int | None, streams: tuple[BinaryIO, BinaryIO]) -> None:
    """Serve one client until it says that it ends.

    Args:
        port: Of this machine alone; None for the streams.
        streams: Where messages come from and go to. Nothing else may be written there.
    """
    # What is refused with a reason is an answer, and no event for a log.
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_event)
    server = make_server()
    if port is not None:
        server.start_tcp(HOST, port)
        return
    server.start_io(*streams)
