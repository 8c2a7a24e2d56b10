"""Requests: features of the protocol, each answered by a function of what is known."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language_server import (
    completion,
    descriptions,
    hints,
    navigation,
    renaming,
    repairs,
)
from tripybuild.language_server.workspace import EditedFile, Workspace

TRIGGERS = (".", "(", ",", " ", ":", "[")
Answer = TypeVar("Answer")


class PlaceParams(Protocol):
    """The parameters of a request about a place of a file."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier:
        """The file."""

    @property
    def position(self) -> types.Position:
        """The place."""


def _with_file(space: Workspace, uri: str, answer: Callable[[EditedFile], Answer]) -> Answer | None:
    """The answer of an open file of ours; a refusal is an error of the protocol.

    Raises:
        JsonRpcException: The request cannot be answered, with the reason.
    """
    file = space.get(uri)
    if file is None:
        return None
    try:
        return answer(file)
    except DiagnosticError as error:
        problem = error.diagnostics[0]
        message = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
        raise JsonRpcException(message, types.LSPErrorCodes.RequestFailed) from error


def _at(
    space: Workspace,
    params: PlaceParams,
    answer: Callable[[EditedFile, int, int], Answer],
) -> Answer | None:
    """The answer for a place of a file."""

    def of_file(file: EditedFile) -> Answer:
        return answer(file, *file.analysis.source.place(params.position))

    return _with_file(space, params.text_document.uri, of_file)


def _add_pointing(server: LanguageServer, space: Workspace) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        def answer(file: EditedFile, line: int, column: int) -> types.Hover | None:
            found = descriptions.hover(file, line, column)
            if found is None:
                return None
            text = types.MarkupContent(types.MarkupKind.Markdown, found[0])
            return types.Hover(text, file.analysis.source.range(found[1]))

        return _at(space, params, answer)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=True))
    def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        span = params.range
        return _with_file(
            space,
            params.text_document.uri,
            lambda file: list(hints.inlay_hints(file, span.start.line, span.end.line)),
        )

    @server.feature(types.INLAY_HINT_RESOLVE)
    def inlay_hint_resolve(hint: types.InlayHint) -> types.InlayHint:
        data = hint.data if isinstance(hint.data, dict) else {}
        file = space.get(str(data.get("uri")))
        if file is not None:
            text = descriptions.hint_tooltip(file, tuple(data.get("key", ())))
            hint.tooltip = types.MarkupContent(types.MarkupKind.Markdown, text) if text else None
        return hint


def _add_places(server: LanguageServer, space: Workspace) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location] | None:
        return _at(space, params, lambda *at: navigation.definition(space, *at))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location] | None:
        declared = params.context.include_declaration
        return _at(
            space,
            params,
            lambda file, line, column: navigation.references(file, line, column, declared=declared),
        )

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return _with_file(space, params.text_document.uri, navigation.outline)

    @server.feature(
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        types.SemanticTokensLegend(list(hints.TOKENS), ["declaration"]),
    )
    def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return _with_file(space, params.text_document.uri, hints.semantic_tokens)


def _add_completion(server: LanguageServer, space: Workspace) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=list(TRIGGERS), resolve_provider=True),
    )
    def complete(params: types.CompletionParams) -> types.CompletionList | None:
        return _at(space, params, completion.complete)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        return completion.resolve(item)

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        types.SignatureHelpOptions(trigger_characters=["(", ","]),
    )
    def signature_help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return _at(space, params, completion.signature_help)


def _add_edits(server: LanguageServer, space: Workspace) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        def answer(file: EditedFile, line: int, column: int) -> types.Range:
            return file.analysis.source.range(renaming.renameable(file, line, column)[1])

        return _at(space, params, answer)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        return _at(
            space,
            params,
            lambda f, line, column: renaming.rename(space, f, line, column, params.new_name),
        )

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        first, last = params.range.start.line, params.range.end.line
        return _with_file(
            space,
            params.text_document.uri,
            lambda file: list(repairs.code_actions(file, first, last)),
        )

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return _with_file(space, params.text_document.uri, repairs.formatting)


def add_requests(server: LanguageServer, space: Workspace) -> None:
    """Let a server answer all requests about the files of a workspace."""
    for add in (_add_pointing, _add_places, _add_completion, _add_edits):
        add(server, space)
