"""Tables of numbers that fit the terminal: side by side, else below their names, else as a list."""

from collections.abc import Iterator, Sequence

from tripybuild.cli.console import terminal_width

INDENT, GAP = "  ", "  "


def number_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 2, width: int | None = None
) -> Iterator[str]:
    """The lines of a table.

    Args:
        head: The titles of all columns; that of the first is not shown in a list.
        rows: A name, more texts, and numbers; a row that ends before them has no numbers.
        texts: How many columns are texts, which stand on the left.
        width: Columns of the terminal, by default those that it has.
    """
    width = terminal_width() if width is None else width
    whole = [head, *rows]
    wide = list(_aligned(whole, texts, INDENT))
    if max(map(len, wide)) <= width:
        yield from wide
        return
    numbers = list(_aligned([each[texts:] for each in whole], 0, INDENT * 2))
    if max(map(len, numbers)) <= width:
        yield numbers[0]
        for row, line in zip(rows, numbers[1:], strict=True):
            yield _title(row, texts)
            yield from [line] * bool(line)
        return
    longest = max(map(len, head[texts:]))
    for row in rows:
        yield _title(row, texts)
        for name, number in zip(head[texts:], row[texts:], strict=False):
            if number:
                yield f"{_left(row)}{INDENT}{name.ljust(longest)}{GAP}{number}"


def _title(row: Sequence[str], texts: int) -> str:
    return INDENT + GAP.join(each for each in row[:texts] if each)


def _left(row: Sequence[str]) -> str:
    """What a title is indented by."""
    return INDENT + " " * (len(row[0]) - len(row[0].lstrip()))


def _aligned(rows: Sequence[Sequence[str]], texts: int, indent: str) -> Iterator[str]:
    count = max(map(len, rows))
    filled = [(*row, *[""] * (count - len(row))) for row in rows]
    widths = [max(map(len, column)) for column in zip(*filled, strict=True)]
    for row in filled:
        cells = [
            cell.ljust(size) if at < texts else cell.rjust(size)
            for at, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"{indent}{GAP.join(cells)}".rstrip()
