"""`docs/operators-reference.md` has every key of a registry's files, and its examples hold.

A block below a path of `ops_registry/` is an excerpt of that file, or of a file of the page. The
page's own files are a registry.
"""

import re
from pathlib import Path

import pytest
import sections
import yaml

from tripybuild.model.graph_builder import build
from tripybuild.packages.libraries import model_libraries
from tripybuild.schema.entries import StrictModel
from tripybuild.schema.keys import models, title
from tripybuild.schema.kinds import REGISTRY_KINDS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "operators-reference.md"
FIRST = "tripybuild: 1\n"


MODELS = list(dict.fromkeys(each for kind in REGISTRY_KINDS.values() for each in models(kind)))


def topics():
    """The blocks below each heading that names keys, by the section and the key."""
    found, section = {}, ""
    for part in re.split(r"^(?=##)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heading, _, text = part.partition("\n")
        if heading.startswith("## "):
            section = heading[3:]
        elif heading.startswith("### "):
            blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
            for key in re.findall("`([a-z_]+)`", heading):
                assert (section, key) not in found
                found[section, key] = [yaml.safe_load(block) for block in blocks]
    return found


def files():
    """The blocks that are named, by the path and the text."""
    return [(b.name, b.text) for s in sections.sections(PAGE) for b in s.blocks if b.name]


def own_files():
    """Those of the page that are whole."""
    return {name: text for name, text in files() if text.startswith(FIRST) and name[0] != "o"}


def keys(data):
    """The keys of a mapping and of all in it."""
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    own = data if isinstance(data, dict) else ()
    return {*own, *(key for each in inner for key in keys(each))}


def holds(whole, part):
    """Whether an excerpt leaves out keys and items of a file, and changes none."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and holds(whole[key], each) for key, each in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        rest = iter(whole)
        return all(any(holds(item, each) for item in rest) for each in part)
    return whole == part


@pytest.mark.parametrize("model", MODELS, ids=title)
def test_every_key_has_a_heading_and_an_example(model):
    """Under the model's title, or under that of a model that it extends."""
    titles = {title(each) for each in model.__mro__ if issubclass(each, StrictModel)}
    known = topics()
    for key in model.model_fields:
        examples = [known[name, key] for name in titles if (name, key) in known]
        assert examples, f"`{key}` has no heading under {titles}"
        assert any(key in keys(block) for blocks in examples for block in blocks), key


def test_every_heading_is_of_a_key():
    """A key that is gone leaves the page."""
    known = {(title(each), key) for m in MODELS for each in m.__mro__ for key in _fields(each, m)}
    assert set(topics()) <= known


def _fields(model, of):
    return of.model_fields if issubclass(model, StrictModel) else ()


def test_excerpts_are_of_their_files():
    """Those of the registry, and those of the page."""
    own = own_files()
    for name, text in files():
        whole = own.get(name) or (ROOT / name).read_text(encoding="utf-8")
        assert holds(yaml.safe_load(whole), yaml.safe_load(text)), f"{name}:\n{text}"


def test_the_files_of_the_page_are_a_registry_and_a_model(tmp_path):
    """It is generated and imported, and the model uses all of it."""
    for name, text in own_files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    model = tmp_path / "averages.yaml"
    with pytest.warns(FutureWarning, match="`half_of` is deprecated: call `input / 2.0`"):
        graph = build(model, homes=model_libraries(None, model)).graph
    assert {"HalfOf", "TwiceOf", "TenTimes"} <= {type(each).__name__ for each in graph.operations}
    assert list(graph.weights) == ["gain.gain"]


def test_holds():
    """An excerpt that changes anything is none."""
    whole = {"a": [1, {"b": 2, "c": 3}], "d": 4}
    assert holds(whole, {"a": [{"c": 3}]})
    assert not holds(whole, {"a": [{"c": 4}]})
    assert not holds(whole, {"e": 4})
    assert not holds(whole, {"a": [{"b": 2}, 1]})
