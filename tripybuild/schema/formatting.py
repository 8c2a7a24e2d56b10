"""Canonical formatting: what `tripybuild fmt` writes and `gen --check` requires."""

from functools import partial

from tripybuild.documents.document import Document, parse
from tripybuild.documents.quoting import requote
from tripybuild.documents.reorder import reorder
from tripybuild.schema.kinds import KINDS, kind_of
from tripybuild.schema.reading_order import entries, is_expression


def format_document(document: Document) -> str | None:
    """Give the text of a document in its one form, or None where it is no file of tripybuild's.

    Args:
        document: A document that was read without a problem.
    """
    kind = kind_of(document.data)
    if kind is None:
        return None
    text = requote(document, partial(is_expression, KINDS[kind]))
    if text != document.text:
        again, _ = parse(text, document.path)
        assert again is not None
        document = again
    found = entries(document.data, KINDS[kind])
    orders = {location: order for location, keys, order in found if keys != order}
    return reorder(document, orders)


def is_formatted(document: Document) -> bool:
    """Tell whether a document has its one form, or could not be given it."""
    return format_document(document) in (document.text, None)
