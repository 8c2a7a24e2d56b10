"""Texts for readers: American spelling in the product and the documents."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [
    *(ROOT / "tripybuild").rglob("*.py"),
    *(ROOT / "docs").rglob("*.md"),
    *ROOT.glob("*.md"),
]
STEMS = (
    "canonical|capital|categor|custom|emphas|equal|final|general|initial|legal|linear|local|"
    "material|maxim|memo|minim|normal|optim|organ|penal|quant|random|recogn|serial|special|"
    "stabil|standard|summar|symbol|synchron|token|util|vector|visual"
)
BRITISH = re.compile(
    rf"\b\w*(?:(?:{STEMS})is(?:e|ed|es|er|ers|ing|ation|ations|able)|behaviour\w*|colour\w*|"
    r"favour\w*|neighbour\w*|licence\w*|centre[ds]?|centring|artefacts?|catalogues?|grey|"
    r"spelt|misspelt|learnt|whilst|towards|judgement|(?:label|cancel|model|travel)l(?:ed|ing))\b",
    re.IGNORECASE,
)
# A key of manifests, which executables that exist have: it is data.
DATA = re.compile(r"specialisations\b")


def test_spelling_is_american():
    """One spelling of a word finds it everywhere."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in sorted(TEXTS)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in BRITISH.finditer(DATA.sub("", line))
    ]
    assert found == []


def test_british_spellings_are_found():
    """The rule finds inflected and prefixed forms, and no American words."""
    british = "unrecognised Behaviours specialisation normalising colour labelled respecialised"
    assert [match.group() for match in BRITISH.finditer(british)] == british.split()
    assert not BRITISH.search("raise otherwise precision comprises advise normalized labeled")
