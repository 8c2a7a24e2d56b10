"""A program for nvtripy calls our operators as they are called there, with the same dtypes.

What differs is listed in `docs/coming-from-nvtripy.md`, and nothing is listed that does not differ.
"""

import inspect

import pytest
from nvtripy_surface import (
    DTYPES,
    ENTRIES,
    FACTS,
    OPERATORS,
    SYMBOLS,
    Entry,
    allowed,
    called,
    called_with,
    constructor,
    differences,
    given,
    has,
    made,
    ours_called,
    ours_numbers,
    tuples,
)

import tripyapi as tp

HERE = [entry for entry in ENTRIES if entry.function is not None and entry.operator is not None]


def disagree(entry: Entry) -> list[str]:
    """The dtypes that one of the two allows, or that give another result."""
    found = []
    for types in tuples(entry):
        theirs, ours = allowed(entry, types), called(entry, types)
        spelt = ", ".join(f"{name}: {kind}" for name, kind in types.items())
        if theirs != (ours is not None):
            found.append(f"{spelt}: {'refused' if theirs else 'accepted'}")
        wanted = given(entry, types) if theirs else None
        # Of a list of tensors, nvtripy guarantees what holds for each.
        same = wanted is None or ours is None or set(ours) == set(wanted)
        if not same:
            found.append(f"{spelt}: gives {ours}, not {wanted}")
    return found


def fits(call: str, ours: str) -> bool:
    """Whether one of our signatures is nvtripy's; more arguments with defaults may follow."""
    rest = ours.removeprefix(call)
    return (call + rest == ours and rest[:1] in ("", ",")) and all(
        "=" in part for part in rest.split(", ")[1:]
    )


def agrees(name: str, aspect: str, problems: object) -> None:
    """There are no problems, or the list says that there are."""
    listed = (name, aspect) in differences()
    assert bool(problems) == listed, problems or f"`{name}` ({aspect}) does not differ"


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_it_is_there(entry):
    """Each operator, as a function and as a method of Tensor."""
    agrees(str(entry), "missing", entry not in HERE)


@pytest.mark.parametrize("entry", HERE, ids=str)
def test_it_is_called_alike(entry):
    """Names, order, defaults and overloads; which arguments may be numbers."""
    ours = ours_called(entry)
    agrees(str(entry), "arguments", [c for c in entry.calls if not any(fits(c, o) for o in ours)])
    agrees(str(entry), "numbers", sorted(ours_numbers(entry) ^ entry.numbers))


@pytest.mark.parametrize("entry", HERE, ids=str)
def test_it_takes_the_same_dtypes(entry, monkeypatch):
    """Each tuple of nvtripy's dtypes is accepted and refused alike, and gives the same dtypes."""
    monkeypatch.setattr(tp.config, "nvtripy_devices", True)  # a list as an index is a tuple there
    agrees(str(entry), "dtypes", "\n".join(disagree(entry)))


@pytest.mark.parametrize("name", FACTS["modules"])
def test_modules_are_made_alike(name):
    """Names, order and defaults."""
    ours = constructor(name)
    agrees(name, "arguments", "" if fits(FACTS["modules"][name], ours) else ours)


@pytest.mark.parametrize("name", FACTS["modules"])
def test_modules_are_called_alike(name):
    """By name, too; an executable's input has the same one."""
    assert list(inspect.signature(getattr(tp, name).forward).parameters) == [
        "self",
        FACTS["forwards"][name],
    ]


@pytest.mark.parametrize("name", FACTS["members"])
def test_modules_have_the_same_members(name):
    """Methods, sizes and parameters."""
    module = made(name)
    agrees(name, "members", [m for m in FACTS["members"][name] if not hasattr(module, m)])


@pytest.mark.parametrize("path", SYMBOLS)
def test_what_is_no_operator_is_there(path):
    """Classes, their members, dtypes, settings, types and functions."""
    agrees(path, "missing", not has(tp, path))


@pytest.mark.parametrize("path", FACTS["signatures"])
def test_what_is_no_operator_is_called_alike(path):
    """Names, order and defaults of what is there."""
    if has(tp, path):
        ours = called_with(path)
        agrees(path, "arguments", "" if fits(FACTS["signatures"][path], ours) else ours)


def test_the_list_names_what_is_known():
    """A line that no test asks about would say anything."""
    known = {*map(str, ENTRIES), *FACTS["modules"], *SYMBOLS}
    aspects = {"arguments", "dtypes", "members", "missing", "numbers"}

    assert differences()
    assert {name for name, _ in differences()} <= known
    assert {aspect for _, aspect in differences()} <= aspects
    assert all(len(reason) > 20 for reason in differences().values())


def test_the_facts_are_nvtripys():
    """As many as its documentation has, so that none was lost on the way."""
    assert len(FACTS["operators"]) == 64
    assert len(FACTS["methods"]) == 34
    assert len(FACTS["modules"]) == 9
    assert len(FACTS["members"]) == len(FACTS["modules"]) + 1
    assert len(DTYPES) == 9
    assert len(SYMBOLS) == len(set(SYMBOLS)) == 91
    assert set(FACTS["signatures"]) <= set(SYMBOLS)
    assert len(OPERATORS) > len(FACTS["operators"])
