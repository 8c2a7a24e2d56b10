"""Static call check of builder calls in snippets.

Invariant: the answer is a sentence for a diagnostic, or None; both dialects answer in the same
words.
"""

from collections.abc import Iterable, Mapping


def check_arguments(
    name: str, parameters: Mapping[str, bool], positional_count: int | None, keywords: Iterable[str]
) -> str | None:
    """What is wrong with the arguments of a call, if anything is.

    Args:
        name: The builder's name as it is written in a snippet: `trt.softmax`.
        parameters: The names of the parameters in order, and whether each must be given.
        positional_count: How many arguments are positional; None when there is a `*` among them.
        keywords: The names of the others.
    """
    names = list(parameters)
    given = list(keywords)
    for keyword in given:
        if keyword not in parameters:
            return f"`{name}` has no parameter `{keyword}`; it takes {', '.join(names)}"
    if positional_count is None:
        return None
    if positional_count > len(names):
        return f"`{name}` takes {len(names)} arguments, and {positional_count} are given"
    twice = [keyword for keyword in given if keyword in names[:positional_count]]
    if twice:
        return f"`{name}` has `{twice[0]}` twice"
    rest = names[positional_count:]
    missing = [each for each in rest if parameters[each] and each not in given]
    if missing:
        return f"`{name}` needs {', '.join(f'`{each}`' for each in missing)}"
    return None
