"""Einsum subscripts: `bij,bjk->bik`, `...ij,...jk`, `ii`.

Invariant: what `explicit` gives has an arrow, no `...` and no spaces, and its labels are lower-case
letters. That is the only form that shape functions, references and builders see.
"""

from collections import Counter
from collections.abc import Sequence
from string import ascii_letters, ascii_lowercase

DOTS = "..."


class EquationError(ValueError):
    """What an equation should have been."""


def explicit(text: str, ranks: Sequence[int]) -> str:
    """An equation for tensors of fixed ranks, made explicit.

    As in NumPy: without an arrow, the result has the labels that occur once, in the alphabet's
    order; `...` stands for all dimensions that have no label, which are aligned at their ends and
    come first in a result that does not place them.

    Raises:
        EquationError: Where the equation fits no such tensors.
    """
    left, arrow, result = text.replace(" ", "").partition("->")
    terms = left.split(",")
    letters = set("".join((*terms, result)).replace(DOTS, ""))
    if not letters <= set(ascii_letters) or any(part.count(DOTS) > 1 for part in (*terms, result)):
        raise EquationError("letters, with commas between terms, and an arrow before the result")
    if len(terms) != len(ranks):
        raise EquationError(f"a term for each of the {len(ranks)} tensors")
    free = iter([label for label in ascii_lowercase if label not in letters])
    longest = max(
        (r - len(t) + len(DOTS) for t, r in zip(terms, ranks, strict=True) if DOTS in t), default=0
    )
    try:
        names = {label: next(free) for label in sorted(letters - set(ascii_lowercase))}
        dots = [next(free) for _ in range(longest)]
    except StopIteration:
        raise EquationError(f"at most {len(ascii_lowercase)} different dimensions") from None
    if not arrow:
        result = _implicit_result(left)
    plain = [_plain(term, names, dots, rank) for term, rank in zip(terms, ranks, strict=True)]
    return ",".join(plain) + "->" + _result(_plain(result, names, dots, None), plain)


def _implicit_result(left: str) -> str:
    """The result of an equation without an arrow."""
    counts = Counter(left.replace(DOTS, "").replace(",", ""))
    once = "".join(sorted(label for label, count in counts.items() if count == 1))
    return (DOTS if DOTS in left else "") + once


def _plain(term: str, names: dict[str, str], dots: Sequence[str], rank: int | None) -> str:
    """A term without `...` and capitals; it names as many dimensions as the tensor has."""
    here = len(dots) if rank is None else max(rank - len(term.replace(DOTS, "")), 0)
    spelling = "".join(names.get(letter, letter) for letter in term)
    found = spelling.replace(DOTS, "".join(dots[len(dots) - here :]))
    if rank is not None and len(found) != rank:
        raise EquationError(f"a term for {rank} dimensions where it has `{term}`")
    return found


def _result(result: str, terms: Sequence[str]) -> str:
    if len(set(result)) != len(result) or not set(result) <= set("".join(terms)):
        raise EquationError("labels of its terms in the result, each once")
    return result


def parts(equation: str) -> tuple[list[str], str]:
    """The terms and the result of an explicit equation."""
    left, _, result = equation.partition("->")
    return left.split(","), result


def pairwise(equation: str) -> list[str]:
    """The equation as equations of at most two terms: the first two, that and the third, and so on.

    An intermediate result keeps the labels that later terms need, in the order of their first use.
    """
    (first, *rest), result = parts(equation)
    found = []
    for index, term in enumerate(rest):
        later = result + "".join(rest[index + 1 :])
        last = index == len(rest) - 1
        kept = result if last else "".join(x for x in dict.fromkeys(first + term) if x in later)
        found.append(f"{first},{term}->{kept}")
        first = kept
    return found or [equation]
