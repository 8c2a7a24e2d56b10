"""The two models of `specs/` do what they are for."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import tripybuild

SPECS = Path(__file__).parents[1] / "specs"
SENTENCES = [
    "A man is eating food.",
    "Someone is having a meal.",
    "The girl plays the violin on a stage.",
    "A child performs music in front of people.",
    "The stock market fell sharply on Monday.",
    "Shares lost much of their value at the start of the week.",
    "How do I reset my password?",
    "I cannot log in to my account any more.",
    "Snow covered the mountains overnight.",
    "It is a very hot and dry summer day.",
    "Two dogs run through the field.",
    "No.",
]


@pytest.fixture
def scripts(monkeypatch):
    """The scripts beside the specifications can be imported."""
    monkeypatch.syspath_prepend(SPECS)
    yield
    for name in ("digits_data", "minilm_tokenize"):
        sys.modules.pop(name, None)


def test_minilm_embeds_as_transformers_does(scripts):
    """The same files, through another implementation: each number is equal to 1e-4."""
    oracle = pytest.importorskip("oracles.minilm")
    tokenizer = pytest.importorskip("minilm_tokenize")
    run = tripybuild.compile(SPECS / "minilm.yaml")
    tokens, mask = tokenizer.tokenize(SENTENCES)

    got = run(tokens=tokens, mask=mask)["embedding"]

    assert tokens.shape[0] == len(SENTENCES)
    assert 0 in mask
    np.testing.assert_allclose(got, oracle.embed(tokens, mask), atol=1e-4, rtol=0)
    np.testing.assert_allclose(np.linalg.norm(got, axis=1), 1, atol=1e-5)
    likeness = got @ got.T - 2 * np.eye(len(got))
    assert [int(i) for i in likeness[:8].argmax(1)] == [1, 0, 3, 2, 5, 4, 7, 6]


def test_padding_and_company_do_not_change_an_embedding(scripts):
    """One sentence alone, and the same one beside longer ones."""
    tokenizer = pytest.importorskip("minilm_tokenize")
    run = tripybuild.compile(SPECS / "minilm.yaml")
    alone, together = (
        run(**dict(zip(("tokens", "mask"), tokenizer.tokenize(each), strict=True)))["embedding"]
        for each in (SENTENCES[:1], SENTENCES)
    )

    np.testing.assert_allclose(alone[0], together[0], atol=1e-5)


def test_digits_are_told_apart(scripts):
    """At least 97 % of the third that the training did not see."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    digits_data = importlib.import_module("digits_data")
    images, labels = digits_data.held_out_part()
    run = tripybuild.compile(SPECS / "digits.yaml")

    results = run(image=images)

    assert (results["logits"].argmax(1) == labels).mean() >= 0.97
    np.testing.assert_allclose(results["probabilities"].sum(1), 1, atol=1e-5)
