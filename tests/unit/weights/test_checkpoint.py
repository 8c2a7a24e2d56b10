"""Weights files against what a model declares: everything that differs, in one report."""

import importlib.metadata
import struct

import ml_dtypes
import numpy as np
import pytest
import written
from safetensors.numpy import save_file

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.schema.files import WeightsEntry
from tripybuild.types.dtypes import BY_NAME
from tripybuild.weights import safetensors
from tripybuild.weights.checkpoint import check_weights
from tripybuild.weights.names import join_names, match_name, name_in_file

TEXT = """
inputs:
  x: F[4]
parts:
  h: layer * 2
outputs:
  out: h(x)
WEIGHTS
define:
  layer:
    inputs:
      x: F[4]
    parts:
      fc: Linear(4, 4)
    weights:
      scale: F[3, 4]
    outputs:
      out: fc(x)
"""
FILE = "weights: w.safetensors"
SHAPES = {"fc.weight": (4, 4), "fc.bias": (4,), "scale": (3, 4)}


def tensors(template="h.{i}.{name}"):
    random = np.random.default_rng(1)
    return {
        template.format(i=i, name=name): random.normal(size=shape).astype(np.float32)
        for i in range(2)
        for name, shape in SHAPES.items()
    }


def arrays(folder, weights=FILE):
    built = build(written.write(folder, TEXT.replace("WEIGHTS", weights)))
    return check_weights(built)(built.graph.weights)


def report(folder, weights=FILE):
    with pytest.raises(DiagnosticError) as raised:
        arrays(folder, weights)
    return raised.value.diagnostics


def test_weights_are_read_by_path(tmp_path):
    """Bit for bit, in the order of the model."""
    stored = tensors()
    save_file(stored, tmp_path / "w.safetensors")

    got = arrays(tmp_path)

    assert list(got) == list(stored)
    for name, array in got.items():
        np.testing.assert_array_equal(array, stored[name])


def test_all_that_differs_is_in_one_report(tmp_path):
    """Missing, misspelt, transposed, of another shape or dtype, left over."""
    stored = tensors()
    stored["h.0.fc.wieght"] = stored.pop("h.0.fc.weight")
    stored["h.1.scale"] = stored["h.1.scale"].T.copy()
    stored["h.0.scale"] = np.zeros((2, 2), np.float32)
    stored["h.1.fc.bias"] = stored["h.1.fc.bias"].astype(np.float16)
    stored["h.0.fc.bias"] = stored["h.0.fc.bias"].astype(np.int16)
    stored["h.1.fc.weight"] = stored["h.1.fc.weight"].astype(ml_dtypes.bfloat16)
    stored["position_ids"] = np.arange(3)
    save_file(stored, tmp_path / "w.safetensors")

    found = report(tmp_path)

    assert [(d.code, d.message.split("; ")) for d in found] == [
        ("weight-missing", ["the weight `h.0.fc.weight` is not in the file"]),
        (
            "weight-shape",
            [
                "the weight `h.0.scale` must have shape [3, 4], but the file has [2, 2]",
                "the weight `h.1.scale` must have shape [3, 4], but the file has [4, 3]",
            ],
        ),
        (
            "weight-dtype",
            [
                "the weight `h.0.fc.bias` must be float32, but the file has int16",
                "the weight `h.1.fc.weight` must be float32, but the file has bfloat16",
                "the weight `h.1.fc.bias` must be float32, but the file has float16",
            ],
        ),
        (
            "weight-unused",
            ["the file holds `position_ids`, which the model does not use"],
        ),
    ]
    assert "did you mean `h.0.fc.wieght`?" in found[0].hint
    assert found[1].hint is None  # one of the two is not merely transposed
    assert [d.span.line for d in found] == [15, 17, 15, 9]


def test_transposed_weights(tmp_path):
    """All weights that are transposed: the hint says so."""
    stored = tensors()
    for name in ("h.0.scale", "h.1.scale"):
        stored[name] = stored[name].T.copy()
    save_file(stored, tmp_path / "w.safetensors")

    (found,) = report(tmp_path)

    assert found.message == (
        "2 weights, `h.*.scale`, must have shape [3, 4], but the file has [4, 3]"
    )
    assert found.hint == "the file holds them transposed"


def test_reports_do_not_grow_with_the_model(tmp_path):
    """One problem for each kind, with patterns for names."""
    stored = {f"other.{i:03}.{name}": np.zeros(1, np.float32) for i in range(100) for name in "ab"}
    save_file(stored, tmp_path / "w.safetensors")

    assert [d.message for d in report(tmp_path)] == [
        "6 weights are not in the file: `h.*.fc.{weight,bias}`, `h.*.scale`",
        "the model does not use 200 tensors of the file: `other.*.{a,b}`",
    ]


def test_prefixes_of_some_names_are_no_hint(tmp_path):
    """A prefix that would lose other weights is not said, but the name that has one is."""
    stored = {name: np.zeros(SHAPES[name.split(".", 2)[2]], np.float32) for name in tensors()}
    stored["model.h.1.scale"] = stored.pop("h.1.scale")
    save_file(stored, tmp_path / "w.safetensors")

    (missing,) = report(tmp_path)

    assert "Write `h.1.scale: model.h.1.scale` below `rename:`" in missing.hint


def test_a_rename_that_leads_nowhere(tmp_path):
    """The rule that maps the weights is said, and the names that it gives."""
    save_file(tensors(), tmp_path / "w.safetensors")

    missing, _ = report(tmp_path, "weights:\n  file: w.safetensors\n  rename:\n    h.*: body.*")

    assert missing.message.endswith("as `body.*.fc.{weight,bias}`, `body.*.scale`")
    assert "`h.*: body.*` below `rename:` leads there" in missing.hint


@pytest.mark.parametrize(
    ("pattern", "name", "stars", "runs", "rest"),
    [
        ("****x", "abcdx", ("a", "b", "c", "d"), (), ()),
        ("a**b", "axxb.c", ("x", "x"), (), ("c",)),
        ("**.fc", "fc", (), ((),), ()),
        ("**.fc", "h.0.fc.w", (), (("h", "0"),), ("w",)),
        ("**", "a.b", (), (("a", "b"),), ()),
        ("**.b.**", "a.b.b.c", (), (("a", "b"), ("c",)), ()),
    ],
)
def test_stars_match(pattern, name, stars, runs, rest):
    """Two stars are a run where they are a part of their own, and two stars elsewhere."""
    found = match_name(pattern, name)
    assert (found.stars, found.runs, found.rest) == (stars, runs, rest)


@pytest.mark.parametrize(("pattern", "name"), [("***", "a.b"), ("a.**", "a"), ("**.fc", "h.fx")])
def test_stars_that_do_not_match(pattern, name):
    """A star has a character at least, and a run at the end a part."""
    assert match_name(pattern, name) is None


@pytest.mark.parametrize("pattern", ["********!", "**a**a**a**a**!"])
def test_stars_spend_the_budget(tmp_path, pattern):
    """Stars that share a part take time with a power of its length."""
    save_file(tensors(), tmp_path / "w.safetensors")
    text = TEXT.replace("scale: F[3, 4]", f"{'a' * 60}: F[3, 4]").replace(
        "WEIGHTS", f"weights:\n  file: w.safetensors\n  rename:\n    '{pattern}': y"
    )
    with pytest.raises(DiagnosticError) as raised:
        check_weights(build(written.write(tmp_path, text)))
    assert raised.value.diagnostics[0].code == "over-budget"


@pytest.mark.parametrize(("own", "prefix"), [("", ""), ("\n  prefix: m.", "m.")])
def test_renames_are_guessed(tmp_path, own, prefix):
    """Where one rename would make weights be there, the hint is what to write."""
    stored = {n.replace(".fc.", ".fcc."): a for n, a in tensors().items()}
    save_file({prefix + n: a for n, a in stored.items()}, tmp_path / "w.safetensors")
    entry = f"weights:\n  file: w.safetensors{own}"

    (missing,) = report(tmp_path, entry)

    assert missing.hint == "did you mean `h.*.fcc`? Write `h.*.fc: h.*.fcc` below `rename:`"
    assert len(arrays(tmp_path, f"{entry}\n  rename:\n    h.*.fc: h.*.fcc")) == 6


def test_one_dtype_for_all(tmp_path):
    """Weights of another dtype are one problem, and its hint mends it."""
    save_file({n: a.astype(np.float16) for n, a in tensors().items()}, tmp_path / "w.safetensors")

    (found,) = report(tmp_path)

    assert found.message == (
        "6 weights, `h.*.fc.{weight,bias}`, `h.*.scale`, must be float32, but the file has float16"
    )
    assert "convert: true" in found.hint
    entry = "weights:\n  file: w.safetensors\n  convert: true"
    assert {array.dtype for array in arrays(tmp_path, entry).values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("own", "template", "hint"),
    [
        ("", "model.h.{i}.{name}", "begin with `model.`: write `prefix: model.`"),
        ("\n  prefix: bert.", "h.{i}.{name}", "no name in the file begins with `bert.`"),
        ("\n  prefix: bert.", "vit.h.{i}.{name}", "begin with `vit.`: write `prefix: vit.`"),
    ],
)
def test_prefixes_are_guessed(tmp_path, own, template, hint):
    """Where one prefix would make every weight be there, it is the only problem."""
    save_file(tensors(template), tmp_path / "w.safetensors")

    (found,) = report(tmp_path, f"weights:\n  file: w.safetensors{own}")

    assert found.code == "weight-missing"
    assert hint in found.hint


@pytest.mark.parametrize(
    ("entry", "template"),
    [
        ("  prefix: model.", "model.h.{i}.{name}"),
        ("  rename:\n    h: layers", "layers.{i}.{name}"),
        ("  prefix: m.\n  rename:\n    h: layers", "m.layers.{i}.{name}"),
        ("  rename:\n    h.*: blocks.*.inner", "blocks.{i}.inner.{name}"),
        ("  unused: [more]", "h.{i}.{name}"),
        ("  rename:\n    h.**: blocks.**", "blocks.{i}.{name}"),
        ("  rename:\n    '**.fc': '**.dense.linear'", "h.{i}.{name}"),
    ],
)
def test_names_are_mapped(tmp_path, entry, template):
    """By prefix, and by parts of paths; `*` stands for one part, and `**` for any number."""
    stored = tensors(template)
    if "dense" in entry:
        stored = {name.replace("fc", "dense.linear"): each for name, each in stored.items()}
    if "unused" in entry:
        stored |= {"more": np.zeros(3, np.float32), "more.below.it": np.zeros(1, np.float32)}
    save_file(stored, tmp_path / "w.safetensors")

    got = arrays(tmp_path, f"weights:\n  file: w.safetensors\n{entry}")

    assert list(got) == list(tensors())


def test_the_longest_way_to_say_a_name():
    """Patterns are of whole parts; the first that fits counts."""
    entry = WeightsEntry(
        file="f", rename={"h.*.a.*.w": "x.*.*", "h.1": "one", "h": "all"}, prefix="p."
    )

    assert name_in_file("h.3.a.7.w", entry) == "p.x.3.7"
    assert name_in_file("h.1.b", entry) == "p.one.b"
    assert name_in_file("h.10.b", entry) == "p.all.10.b"
    assert name_in_file("hh.1", entry) == "p.hh.1"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a"], ["a"]),
        (["a.0.w", "a.0.b"], ["a.0.{w,b}"]),
        (["a.0.w", "a.1.w", "a.1.b"], ["a.*.w", "a.1.b"]),
        (["w", "b"], ["{w,b}"]),
        ([f"a.{x}" for x in "pqrstu"], ["a.{p,q,r,s,...}"]),
        (["0", "1"], ["*"]),
    ],
)
def test_names_for_many_at_once(names, expected):
    """Numbers that differ are a star; last parts stand in braces."""
    assert join_names(names) == expected


def test_stars_of_both_kinds():
    """Each takes what the star of its kind matched; `**` may match nothing."""
    entry = WeightsEntry(file="f", rename={"**.layer.*.amax": "**.l*.q._amax"})

    assert name_in_file("a.b.layer.3.amax", entry) == "a.b.l3.q._amax"
    assert name_in_file("layer.3.amax", entry) == "l3.q._amax"
    assert name_in_file("layer.3.other", entry) == "layer.3.other"


def test_renaming_what_is_not_there(tmp_path):
    """Most likely it is misspelt."""
    save_file(tensors(), tmp_path / "w.safetensors")

    (found,) = report(tmp_path, "weights:\n  file: w.safetensors\n  rename:\n    h.*.fx: other")

    assert (found.code, found.span.line) == ("unbound-name", 12)
    assert "`h.*.fx`" in found.message


def test_one_tensor_can_be_several_weights(tmp_path):
    """Tied weights are stored once."""
    stored = {n: a for n, a in tensors().items() if n.startswith("h.0.")}
    save_file(stored, tmp_path / "w.safetensors")

    got = arrays(tmp_path, "weights:\n  file: w.safetensors\n  rename:\n    h.1: h.0")

    np.testing.assert_array_equal(got["h.1.scale"], got["h.0.scale"])


# --- where the file is ---


@pytest.mark.parametrize(
    ("weights", "part"),
    [
        ("weights: nothing.safetensors", "there is no file"),
        ("weights: ../w.safetensors", "leads out of the model's folder"),
        ("weights: sub/../../w.safetensors", "leads out of the model's folder"),
        (f"weights: {300 * 'x'}", "there is no file"),
        ("weights: /etc/hostname", "leads out of the model's folder"),
        ("weights: link.safetensors", "is a link that leads out of the model's folder"),
        ("weights: there/w.safetensors", "is a link that leads out of the model's folder"),
        ('weights: ""', "there is no file"),
        ("weights:\n  package: no-such-thing\n  file: w", "`no-such-thing` is not installed"),
        ("weights:\n  package: numpy\n  file: no-such-file", "has 0 files `no-such-file`"),
        ("weights:\n  package: ../numpy\n  file: w", "cannot be the name of a distribution"),
        ('weights:\n  package: ""\n  file: w', "cannot be the name of a distribution"),
        ("", "has 6 weights, but does not declare where they are"),
    ],
)
def test_files_that_are_not_read(tmp_path, weights, part):
    """Nothing outside of the folder, and nothing of a distribution that it does not list."""
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    save_file(tensors(), outside / "w.safetensors")
    save_file(tensors(), tmp_path / "w.safetensors")
    (folder / "link.safetensors").symlink_to(outside / "w.safetensors")
    (folder / "there").symlink_to(outside)

    (found,) = report(folder, weights)

    assert found.code == "weights-not-found"
    assert part in found.message


def test_files_of_distributions(tmp_path, monkeypatch):
    """They are found by the distribution's own list; one name must mean one file."""
    site = tmp_path / "site"
    info = site / "some_weights-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "some_weights" / "a").mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-weights\nVersion: 1.0\n")
    record = ("some_weights/a/w.safetensors,,", "some_weights/w2.safetensors,,")
    (info / "RECORD").write_text("\n".join(record))
    save_file(tensors(), site / "some_weights" / "a" / "w.safetensors")
    monkeypatch.syspath_prepend(site)
    assert importlib.metadata.version("some-weights") == "1.0"

    for name in ("w.safetensors", "a/w.safetensors"):
        got = arrays(tmp_path, f"weights:\n  package: some_weights\n  file: {name}")
        assert len(got) == 6


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"123",
        struct.pack("<Q", 1 << 62),
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{]",
        struct.pack("<Q", 1000) + b"{}",
    ],
)
def test_files_that_are_malformed(tmp_path, content):
    """The line that names the file is said."""
    (tmp_path / "w.safetensors").write_bytes(content)

    (found,) = report(tmp_path)

    assert (found.code, found.span.line) == ("weights-malformed", 9)


def test_a_truncated_file(tmp_path):
    """Wherever it ends."""
    save_file(tensors(), tmp_path / "w.safetensors")
    content = (tmp_path / "w.safetensors").read_bytes()
    for end in range(0, len(content), 37):
        (tmp_path / "w.safetensors").write_bytes(content[:end])
        assert report(tmp_path)[0].code == "weights-malformed"


@pytest.mark.parametrize("stored", ["float32", "bfloat16"])
def test_weights_become_the_chosen_dtype(tmp_path, stored):
    """Where the model says `convert: true`, and only within what the dtype can hold."""
    text = (
        "tripybuild: 1\nmodel: half\ninputs:\n  x: F[2]\nparts:\n  scaled: scaled\n"
        "outputs:\n  y: scaled(x)\nweights:\n  file: w.safetensors\n  convert: true\n"
        "define:\n  scaled:\n    inputs:\n      x: F[2]\n    weights:\n      by: F[2]\n"
        "    outputs:\n      y: x * by\n"
    )
    path = tmp_path / "half.yaml"
    path.write_text(text)
    dtype = BY_NAME[stored].numpy
    for values, fits in (([1.5, -0.25], True), ([70000.0, 1.0], False), ([np.inf, np.nan], True)):
        content = safetensors.encode({"scaled.by": np.array(values, np.float32).astype(dtype)})
        (tmp_path / "w.safetensors").write_bytes(content)
        built = build(path, {"F": "float16"})
        read = check_weights(built)
        if fits:
            found = read(["scaled.by"])["scaled.by"]
            assert found.dtype == np.float16
            np.testing.assert_array_equal(found.astype(np.float32), np.array(values, np.float32))
        else:
            with pytest.raises(DiagnosticError, match="which float16 cannot hold"):
                read(["scaled.by"])
    path.write_text(text.replace("  convert: true\n", ""))
    content = safetensors.encode({"scaled.by": np.float32([1.5, 1]).astype(dtype)})
    (tmp_path / "w.safetensors").write_bytes(content)
    with pytest.raises(DiagnosticError, match="must be float16"):
        check_weights(build(path, {"F": "float16"}))
    found = check_weights(build(path, {"F": "float16", "weights.convert": True}))
    assert found(["scaled.by"])["scaled.by"].dtype == np.float16
    with pytest.raises(DiagnosticError, match="is true or false"):
        build(path, {"weights.convert": 1.5})
    path.write_text(path.read_text().replace("weights:\n  file: w.safetensors\n", "", 1))
    built = build(path, {"F": "float16", "weights.convert": True})
    assert check_weights(built, tmp_path / "w.safetensors")(["scaled.by"])
    with pytest.raises(DiagnosticError, match="does not declare where they are"):
        check_weights(built)
