"""Sizes with structure, type and origin: records, choices, configurations, `use:` with sizes."""

import json
import random
import re
import sys
from hashlib import sha256
from textwrap import dedent

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.cli.main import main
from tripybuild.documents.document import parse
from tripybuild.documents.plain_json import LARGEST_OBJECT, parse_object
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build
from tripybuild.schema.formatting import format_document
from tripybuild.targets.model_manifest import manifest_of_model
from tripybuild.trace import printer

TOWERS = """
    config:
      text_config: {width: 4, eps: 1.0e-5, names: [a, b], "0": zero}
      layers: 2
    sizes:
      act: {type: gelu | relu, default: gelu, doc: The curve.}
      text: {width: config.text_config.width, deep: {depth: config.layers, rate: 1.0}}
      image: {width: 2 * text.width, deep: {depth: 1, rate: 1.0}}
    inputs:
      x: F[B, text.width]
      z: F[B, image.width]
    parts:
      t: tower(text)
      v: tower(image)
      again: tower(text)
    outputs:
      y: again(t(x))
      w: v(z)
    define:
      tower:
        sizes: [c]
        inputs:
          x: F[B, c.width]
        parts:
          h: block(c, act) * c.deep.depth
        outputs:
          out: h(x)
      block:
        sizes:
          c: {type: record, doc: The sizes of the tower.}
          curve: {type: gelu | relu, doc: The curve.}
        requires:
          some-columns: c.width > 2
        inputs:
          x: F[B, c.width]
        parts:
          l: Linear(c.width, c.width)
        outputs:
          out: gelu(l(x)) if curve == "gelu" else relu(l(x))
    """


def towers(folder, config=None, **sizes):
    """Build the model with other sizes and values."""
    path = written.write(folder, dedent(TOWERS))
    return build(path, sizes, config=ConfigChoice(config))


def shapes(built):
    """Give the shapes of a model's weights."""
    return {name: value.shape for name, value in built.graph.weights.items()}


def problem(call, *given, **named):
    """Give the only problem that a call ends with."""
    with pytest.raises(DiagnosticError) as raised:
        call(*given, **named)
    (found,) = raised.value.diagnostics
    return found


def test_records_are_handed_over_whole(tmp_path):
    """Towers of several records differ, and what is recorded of one is not another's."""
    built = towers(tmp_path)

    assert [(n, s) for n, s in shapes(built).items() if "weight" in n] == [
        ("t.h.0.l.weight", (4, 4)),
        ("t.h.1.l.weight", (4, 4)),
        ("v.h.0.l.weight", (8, 8)),
        ("again.h.0.l.weight", (4, 4)),
        ("again.h.1.l.weight", (4, 4)),
    ]
    assert len(built.graph.operations) == 10


@pytest.mark.parametrize(
    "sizes",
    [{"text.deep.depth": 1}, {"text": {"deep": {"depth": 1}}}, {"config.layers": 1}],
    ids=["path", "mapping", "config"],
)
def test_an_entry_of_a_record_can_be_set(sizes, tmp_path):
    """By its path, or in a mapping; the other entries stay."""
    built = towers(tmp_path, **sizes)

    assert "t.h.1.l.weight" not in shapes(built)
    assert shapes(built)["t.h.0.l.weight"] == (4, 4)


def test_a_choice_decides_what_steps_do(tmp_path):
    """It can be set; what is compared is a word."""
    assert "gelu" in printer.text(towers(tmp_path).graph)
    assert "gelu" not in printer.text(towers(tmp_path, act="relu").graph)


def test_records_differ_by_the_types_of_numbers(tmp_path):
    """`1` is not `1.0`, nor `true`: parts that are made with them are recorded anew."""
    text = """
        sizes:
          a: {k: 1}
          b: {k: 1.0}
        inputs:
          x: float32[4]
          i: int32[4]
        parts:
          one: by(a)
          other: by(b)
        outputs:
          y: one(i)
          z: other(x)
          w: one(x)
        define:
          by:
            sizes: [c]
            inputs:
              x: any[4]
            outputs:
              out: "x * c.k if is_int(c.k) else x + 0.5"
        """
    graph = written.graph(tmp_path, text)

    assert str(graph.outputs["y"].type) == "tensor<4xi32>"
    assert printer.text(graph).count(" mul(") == 2
    assert printer.text(graph).count(" add(") == 1


def test_lists_hold_records_and_records_can_be_asked(tmp_path):
    """`len`, `in`, `[...]` and `get`, with keys that are no names and such that functions have."""
    text = """
        config: {id2label: {"0": cat, "1": dog}, min: 3, get: 5, depths: [2, 1]}
        sizes:
          stages: [{width: 4, depth: "config.depths[0]"}, {width: 8, depth: 1}]
          labels: len(config.id2label)
          second: config.id2label["1"]
          has: "'head' in config or 'min' in config"
          least: config.min + config["get"]
          head: config.get("head", stages[1].width // 2)
          total: sum(s.width * s.depth for s in stages)
          keys: "[k for k in config.id2label]"
        inputs:
          x: F[stages[0].width]
        outputs:
          y: x
        """
    sizes = build(written.write(tmp_path, dedent(text))).sizes

    assert sizes | {"stages": None} == {
        "stages": None,
        "labels": 2,
        "second": "dog",
        "has": True,
        "least": 8,
        "head": 4,
        "total": 16,
        "keys": ["0", "1"],
    }


def test_numbers_of_json_stay_what_they_are(tmp_path):
    """`1e-5` is a float, `4` an integer, and `4.0` none."""
    path = tmp_path / "other.json"
    path.write_text('{"layers": 1, "text_config": {"width": 8, "eps": 1e-5}, "x": 4.0}')
    text = (
        "config: {}\nsizes: {e: config.text_config.eps, w: config.text_config.width, x: config.x}\n"
    )
    text += "inputs: {a: 'F[w]'}\noutputs: {y: a * e}\n"
    sizes = build(written.write(tmp_path, text), config=ConfigChoice(path)).sizes

    assert [type(each) for each in sizes.values()] == [float, int, float]


def test_a_configuration_stands_over_the_mapping(tmp_path):
    """Key by key, also below; the values of Python are as good as a file."""
    built = towers(tmp_path, {"text_config": {"width": 6, "labels": {0: "a"}}})

    assert shapes(built)["t.h.1.l.weight"] == (6, 6)
    assert built.config.path == ""
    assert len(built.config.sha256) == 64


def test_the_manifest_shows_records_and_names_the_configuration(tmp_path):
    """By the name and the digest of its file, wherever that is."""
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "small.json"
    path.write_text('{"layers": 1}')
    built = towers(tmp_path, path)
    manifest = manifest_of_model(built, "reference", {"": []})

    assert manifest["sizes"]["text"] == {"width": 4, "deep": {"depth": 1, "rate": 1.0}}
    assert manifest["sizes"]["act"] == "gelu"
    digest = sha256(path.read_bytes()).hexdigest()
    assert (built.config.path, built.config.sha256) == ("small.json", digest)


def configured(folder):
    """Write a model that names a file, the file, and a checkpoint with another one."""
    text = """
        config: config.json
        sizes:
          width: config.hidden_size
        inputs:
          x: F[B, width]
        parts:
          l: Linear(width, width, bias=False)
        outputs:
          y: l(x)
        weights: none.safetensors
        """
    path = written.write(folder, dedent(text))
    (folder / "config.json").write_text('{"hidden_size": 4}')
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "config.json").write_text('{"hidden_size": 2}')
    save_file({"l.weight": np.eye(2, dtype=np.float32)}, checkpoint / "model.safetensors")
    return path, checkpoint


def test_the_folder_of_the_weights_brings_its_configuration(tmp_path):
    """Unless another is named; then it is that one."""
    path, checkpoint = configured(tmp_path)
    made = tripybuild.compile(path, target="reference", weights=checkpoint)
    found = problem(
        tripybuild.compile, path, target="reference", weights=checkpoint, config={"hidden_size": 3}
    )

    assert made(x=np.ones((1, 2), np.float32))["y"].shape == (1, 2)
    assert made.manifest["provenance"]["config"]["path"] == "config.json"
    assert (
        made.manifest["provenance"]["config"]["sha256"] == sha256(b'{"hidden_size": 2}').hexdigest()
    )
    assert found.code == "weight-shape"


def test_every_entry_takes_a_configuration(tmp_path):
    """`emit` too, by path or value."""
    path, checkpoint = configured(tmp_path)

    assert "x : tensor<Bx4xf32>" in tripybuild.emit(path, "trace")
    assert "x : tensor<Bx9xf32>" in tripybuild.emit(path, "trace", config={"hidden_size": 9})
    given = str(checkpoint / "config.json")
    assert "x : tensor<Bx2xf32>" in tripybuild.emit(path, "trace", config=given)


def test_what_the_file_names_is_in_its_folder(tmp_path):
    """Also where a link leads; what a person names may be one."""
    path, checkpoint = configured(tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    inner = own / path.name
    path.rename(inner)
    (own / "config.json").symlink_to(checkpoint / "config.json")

    assert problem(build, inner).code == "outside-folder"
    assert build(inner, config=ConfigChoice(own / "config.json")).sizes == {"width": 2}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"a": "' + b"x" * LARGEST_OBJECT + b'"}', "it has more than 1,048,576 bytes"),
        (b'{"a": 1e999}', "`1e999` is larger than any float"),
        (b'{"a": ' + b"1" * 5000 + b"}", "a number has at most 80 characters"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"\xff", "it is no UTF-8 text"),
        (b"", "expecting value"),
        (b'{"a": -Infinity}', "`-Infinity` is no number of JSON"),
    ],
    ids=["large", "float", "integer", "deep", "bytes", "empty", "infinity"],
)
def test_what_is_no_configuration(content, reason, tmp_path):
    """Whatever a file holds, it ends in one diagnostic at the file."""
    path, _ = configured(tmp_path)
    (tmp_path / "config.json").write_bytes(content)
    found = problem(build, path)

    assert found.code == "config-malformed"
    assert found.message.endswith(f"is not a configuration: {reason}")
    assert found.span.path.endswith("config.json")


def test_any_bytes_are_a_configuration_or_a_diagnostic():
    """Whatever is cut out of one, or put into it."""
    rng, right = random.Random(7), b'{"a": [1, 2.5e-3, null, "\\u00e9"], "b": {"c": true, "d": -0}}'
    kinds = set()
    for _ in range(500):
        text = bytearray(right)
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(text))
            text[place : place + rng.randrange(3)] = rng.choice(
                [
                    b"",
                    b"{",
                    b"]",
                    b",",
                    b'"',
                    b"\xff",
                    b"\x00",
                    b"NaN",
                    b"1e400",
                    b"1" * 90,
                    b'"a":',
                ]
            )
        try:
            kinds.add(type(parse_object(bytes(text), "x.json")))
        except DiagnosticError as error:
            kinds.update(each.code for each in error.diagnostics)

    assert kinds == {dict, "config-malformed"}


def test_values_of_python_that_are_no_plain_data(tmp_path):
    """Each is named by its path."""
    nested = {}
    nested["a"] = nested
    for value, said in [
        ({"a": [1, {2, 3}]}, "`config.a[1]` is of the type `set`, which is no plain data"),
        ({"a": float("nan")}, "`config.a` is nan, which is no finite number"),
        ({True: 1}, "the key True of `config` is no string"),
        (nested, "is nested more than 64 deep"),
    ]:
        assert problem(towers, tmp_path, value).message.endswith(said)


def test_a_file_that_is_too_deep(tmp_path):
    """JSON nests more deeply than is looked at."""
    path, _ = configured(tmp_path)
    (tmp_path / "config.json").write_text('{"a": ' * 200 + "1" + "}" * 200)

    assert problem(build, path).code == "config-malformed"


LIBRARY = """
    tripybuild: 1
    sizes:
      width: {type: int, doc: The number of columns.}
      inner: 2 * width
    types:
      G: float32
    define:
      block:
        inputs:
          x: F[B, width]
        parts:
          l: Linear(width, inner)
        outputs:
          out: l(x)
    """


def use(folder, text, **files):
    """Write a model and the files that it uses."""
    for name, each in files.items():
        (folder / f"{name}.yaml").write_text(dedent(each).lstrip("\n"))
    return written.write(folder, dedent(text))


def test_each_use_has_sizes_and_dtypes_of_its_own(tmp_path):
    """Two files that use a third one, and the model, each with others."""
    middle = """
        tripybuild: 1
        use:
          library.yaml: {{take: [block], with: {{width: own, F: F}}}}
        sizes:
          own: {0}
        define:
          {1}:
            inputs:
              x: F[B, own]
            parts:
              inner: block
            outputs:
              out: inner(x)
        """
    text = """
        use:
          library.yaml: {take: [block], with: {width: 3 * n, F: F}}
          one.yaml: {take: [first], with: {F: F}}
          two.yaml: [second]
        sizes:
          n: 1
        inputs:
          x: F[B, 3]
          y: F[B, 5]
          z: float32[B, 7]
        parts:
          a: block
          b: first
          c: second
        outputs:
          p: a(x)
          q: b(y)
          r: c(z)
        """
    files = {"one": middle.format(5, "first"), "two": middle.format(7, "second")}
    built = build(use(tmp_path, text, library=LIBRARY, **files), {"F": "float16"})

    assert {n: str(v.type) for n, v in built.graph.outputs.items()} == {
        "p": "tensor<Bx6xf16>",
        "q": "tensor<Bx10xf16>",
        "r": "tensor<Bx14xf32>",
    }
    assert sorted(each.path.rpartition("/")[2] for each in built.used) == [
        "library.yaml",
        "one.yaml",
        "two.yaml",
    ]


def test_a_used_file_is_named_where_a_size_does_not_reach_it(tmp_path):
    """`--set` reaches used files by `with` alone, which hints say."""
    text = """
        use:
          library.yaml: {take: [block], with: {width: 4}}
        inputs:
          x: F[B, 4]
        parts:
          a: block
        outputs:
          y: a(x)
        """
    path = use(tmp_path, text, library=LIBRARY)

    assert problem(build, path, {"inner": 3}).hint == (
        "`library.yaml`, which this file uses, has it; "
        "declare it here, and hand it over: `with: {inner: inner}`"
    )
    assert problem(build, path, {"F": "float16"}).hint == (
        "`--set F=...` does not reach `library.yaml`: hand it over by `with: {F: F}`"
    )


def test_a_used_model_has_a_configuration_of_its_own(tmp_path):
    """Its sizes read that; what is handed over stands in their place."""
    other = """
        tripybuild: 1
        model: other
        config: {hidden_size: 4}
        sizes:
          width: config.hidden_size
        inputs:
          x: F[B, width]
        outputs:
          y: x
        define:
          block:
            inputs:
              x: F[B, width]
            parts:
              l: Linear(width, 2)
            outputs:
              out: l(x)
        """
    text = """
        use:
          other.yaml: {0}
        inputs:
          x: F[B, {1}]
        parts:
          a: block
        outputs:
          y: a(x)
        """
    plain = build(use(tmp_path, text.format("[block]", 4), other=other))
    given = "{take: [block], with: {width: 6}}"
    bound = build(use(tmp_path, text.format(given, 6), other=other))

    assert shapes(plain)["a.l.weight"] == (2, 4)
    assert shapes(bound)["a.l.weight"] == (2, 6)


def test_a_used_model_takes_a_record_for_its_configuration(tmp_path):
    """Over the values of its own, as `--config` does it."""
    other = """
        tripybuild: 1
        model: other
        config: {width: 4, rows: 2}
        inputs:
          x: F[B, config.width]
        outputs:
          y: x
        define:
          block:
            inputs:
              x: F[B, config.width]
            parts:
              l: Linear(config.width, config.rows)
            outputs:
              out: l(x)
        """
    text = """
        use:
          other.yaml: {take: [block], with: {config: config.text}}
        config: {text: {width: 6}}
        inputs:
          x: F[B, 6]
        parts:
          a: block
        outputs:
          y: a(x)
        """

    assert shapes(build(use(tmp_path, text, other=other)))["a.l.weight"] == (2, 6)


def test_the_order_of_keys(tmp_path):
    """Declared sizes in records are ordered as entries; names in records and values stay."""
    text = """
        tripybuild: 1
        model: tiny
        sizes:
          text: {z: 1, act: {doc: The curve., type: gelu | relu}, a: "True"}
        config: {z: "True", a: 1}
        requires:
          some: text.z > 0
        use:
          blocks.yaml: {with: {z: "None", a: 1}, take: [b, a]}
        inputs:
          x: F[4]
        outputs:
          y: x
        """
    document, _ = parse(dedent(text).lstrip("\n"), "tiny.yaml")

    assert format_document(document).splitlines()[2:9] == [
        "use:",
        "  blocks.yaml: {take: [b, a], with: {z: null, a: 1}}",
        'config: {z: "True", a: 1}',
        "sizes:",
        "  text: {z: 1, act: {type: gelu | relu, doc: The curve.}, a: true}",
        "requires:",
        "  some: text.z > 0",
    ]


def test_a_law_about_a_dynamic_size_is_decided_by_its_range(tmp_path):
    """Or it is refused: a law of a model is about what is known when it is built."""
    text = """
        requires:
          even: S % 2 == 0
        inputs:
          x: F[S]
        ranges:
          S: {0}
        outputs:
          y: x
        """
    written.graph(tmp_path, text.format("{multiple_of: 4}"))

    assert written.problems(tmp_path, text.format("{max: 8}")) == [
        (2, "undecided-size", "whether `S % 2 == 0` holds is known only when the model runs")
    ]


def test_types_of_declared_sizes(tmp_path):
    """Of a file and of a definition alike; whole numbers are floats where floats are wanted."""
    text = """
        sizes:
          rate: {type: float, default: 1, doc: A rate.}
          flag: {type: bool, default: false, doc: A flag.}
          word: {type: string, default: "'a b'", doc: A text.}
          kind: {type: dtype, default: float16, doc: A dtype.}
          list: {type: "int[...]", default: [1, 2], doc: Some integers.}
          none: {type: int, optional: true, default: null, doc: Nothing.}
        inputs:
          x: F[4]
        parts:
          p: part(rate, mode=mode) if False else part(2)
        outputs:
          y: p(x)
        define:
          part:
            sizes:
              by: {type: float, doc: The factor.}
              mode: {type: a | b, default: a, doc: Whichever.}
              kind: {type: dtype, default: null, doc: One may be left out.}
              pads: {type: "int[2]", default: 1, doc: One stands for both.}
              half: {type: int, default: 8 / 2, doc: A whole number.}
            inputs:
              x: F[4]
            outputs:
              out: x * by
        """
    path = written.write(tmp_path, dedent(text.replace("mode=mode", "mode='b'")))
    sizes = build(path, {"rate": 3}).sizes

    assert (sizes["rate"], type(sizes["rate"])) == (3.0, float)
    assert str(sizes["kind"]) == "float16"
    assert sizes["list"] == [1, 2]
    assert sizes["none"] is None
    for call, said in [
        ("part(True)", "`by` of `part` must be a number, but is True"),
        ("part(1, 'c')", "`mode` of `part` must be one of `a`, `b`, but is `c`"),
    ]:
        bad = dedent(text).replace("part(rate, mode=mode) if False else part(2)", call)
        assert problem(build, written.write(tmp_path, bad)).message == said


def test_a_configuration_costs_what_it_holds(tmp_path):
    """Comparing large records many times is counted as what it is."""
    (tmp_path / "config.json").write_text(json.dumps({str(i): i for i in range(50_000)}))
    text = "config: config.json\nsizes: {n: 'len([1 for i in range(10000) if config == config])'}\n"
    text += "inputs: {x: 'F[4]'}\noutputs: {y: x}\n"

    assert problem(build, written.write(tmp_path, text)).code == "snippet-limit"


def test_a_module_has_choices_and_no_records(tmp_path):
    """It is a class of Python, too; the default of a choice is a word there, as in a model."""
    module = """
        tripybuild: 1
        module: Scaled
        doc: Multiply by a factor, or by two.
        sizes:
          n: {type: int, doc: How many factors there are.}
          mode: {type: twice | once, default: twice, doc: How often.}
        inputs:
          x: F[N]
        weights:
          weight: F[n]
        outputs:
          out: x * 2.0 if mode == "twice" else x * weight[0]
        sample: {n: 4, N: 3}
        """
    text = """
        registry: own
        inputs:
          x: F[4]
        parts:
          s: Scaled(4{0})
        outputs:
          y: s(x)
        """
    place = tmp_path / "own" / "modules" / "scaled.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(dedent(module).lstrip("\n"))

    def emitted(more):
        return tripybuild.emit(written.write(tmp_path, dedent(text.format(more))), "trace")

    assert "weight" not in emitted("")
    assert "weight" in emitted(", mode='once'")
    assert problem(emitted, ", mode='one'").code == "Scaled/mode"
    place.write_text(place.read_text().replace("type: int", "type: record"))
    found = problem(emitted, "")
    assert found.message == "`n` cannot be a record: it is an argument of a class"
    assert found.span.line == 5


def test_inspect_shows_sizes_by_their_paths(tmp_path, monkeypatch, capfd):
    """And the configuration that they are from."""
    path, checkpoint = configured(tmp_path)
    text = path.read_text().replace(
        "width: config", "text: {deep: {list: [1, 2]}}\n  width: config"
    )
    path.write_text(text)
    made = tmp_path / "tiny.tpb"
    tripybuild.compile(path, target="reference", weights=checkpoint, output=made)
    monkeypatch.setattr(sys, "argv", ["tripybuild", "inspect", str(made)])
    with pytest.raises(SystemExit):
        main()
    shown = re.sub(r" +", " ", capfd.readouterr().out)

    assert " text.deep.list 1, 2\n" in shown
    assert " width 2\n" in shown
    assert " config path=config.json, sha256=" in shown
