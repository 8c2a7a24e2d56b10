"""`use:`: definitions from other files, what they see, and what goes wrong between files."""

import json
import zipfile
from hashlib import sha256
from textwrap import dedent

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.trace import printer

BLOCKS = """
    tripybuild: 1
    sizes:
      width: 4
      inner: 2 * width
    define:
      block:
        inputs:
          x: F[B, width]
        parts:
          up: Linear(width, inner)
          down: scaled
        outputs:
          out: x + down(up(x))
      scaled:
        inputs:
          x: F[B, inner]
        weights:
          factor: F[inner, width]
        outputs:
          out: halved(x @ factor)
      halved:
        inputs:
          x: F[*S]
        outputs:
          out: x * 0.5
    """
USER = """
    use:
      blocks.yaml: [block]
    sizes:
      width: 7
    inputs:
      x: F[B, 4]
    parts:
      h: block * 2
    outputs:
      y: h(x)
    """


def put(folder, name, text):
    """Write a file that is used."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")


def found(folder, text):
    """Give what is wrong: file, line in it, code, message and notes."""
    with pytest.raises(DiagnosticError) as raised:
        build(written.write(folder, text))
    for each in raised.value.diagnostics:
        yield (
            each.span.path.removeprefix(f"{folder.as_posix()}/"),
            each.span.line,
            each.code,
            each.message.replace(f"{folder.as_posix()}/", ""),
            tuple(note.replace(f"{folder.as_posix()}/", "") for note in each.notes),
        )


def test_a_used_definition_sees_its_own_file(tmp_path):
    """Its sizes and definitions are its own file's; weights are named by the user's paths."""
    put(tmp_path, "blocks.yaml", BLOCKS)

    made = written.graph(tmp_path, USER)

    shapes = {name: tuple(value.shape) for name, value in made.weights.items()}
    one = {"up.weight": (8, 4), "up.bias": (8,), "down.factor": (8, 4)}
    assert shapes == {f"h.{i}.{name}": shape for i in (0, 1) for name, shape in one.items()}


def test_using_is_writing_it_here(tmp_path):
    """The graph is the one of a model that has the definitions itself."""
    put(tmp_path, "blocks.yaml", BLOCKS)
    body = dedent(BLOCKS).split("define:\n")[1]
    own = dedent(USER).replace("use:\n  blocks.yaml: [block]\n", "")
    own = own.replace("width: 7", "width: 4\n  inner: 8") + "define:\n" + body

    used, written_here = written.graph(tmp_path, USER), written.graph(tmp_path, own)

    assert printer.canonical(used) == printer.canonical(written_here)


def test_operations_of_a_used_definition_point_into_its_file(tmp_path):
    """Also where they are copied for the second part; modules point at the step that calls them."""
    put(tmp_path, "blocks.yaml", BLOCKS)

    made = written.graph(tmp_path, USER)

    places = {(o.location.label, o.location.span().line) for o in made.operations}
    assert {("h.0.out", 13), ("h.1.out", 13), ("h.1.up", 13), ("h.1.down.out", 20)} <= places
    assert {o.location.span().path for o in made.operations} == {f"{tmp_path}/blocks.yaml"}


def test_a_size_of_the_used_file_is_not_hidden_by_a_symbol_of_the_user(tmp_path):
    """`S` is dynamic in the model and fixed in the file."""
    put(
        tmp_path,
        "blocks.yaml",
        """
        tripybuild: 1
        sizes:
          S: 4
        define:
          rows:
            inputs:
              x: F[B, S]
            outputs:
              out: reshape(x, [B * S])
        """,
    )
    text = """
        use:
          blocks.yaml: [rows]
        inputs:
          x: F[S, {}]
        outputs:
          y: rows(x)
        """

    made = written.graph(tmp_path, text.format(4))
    wrong = list(found(tmp_path, text.format(5)))

    assert str(made.outputs["y"].type) == "tensor<(4*S)xf32>"
    assert [each[:3] for each in wrong] == [("tiny.yaml", 8, "shape-mismatch")]


@pytest.mark.parametrize("here", ["float32", "float16"])
def test_a_used_file_has_dtypes_of_its_own(tmp_path, here):
    """Its `F` is what its own file says, also in the modules that it makes."""
    put(
        tmp_path,
        "half.yaml",
        """
        tripybuild: 1
        types:
          F: float16
        define:
          half:
            inputs:
              x: any[B, 4]
            parts:
              l: Linear(4, 4)
            outputs:
              out: l(cast(x, F))
        """,
    )
    text = f"""
        use:
          half.yaml: [half]
        types:
          F: {here}
        inputs:
          x: F[B, 4]
        parts:
          l: Linear(4, 4)
          h: half
        outputs:
          y: h(l(x))
        """
    made = written.graph(tmp_path, text)

    dtypes = {name: str(value.dtype) for name, value in made.weights.items()}
    assert dtypes == {
        "l.weight": here,
        "l.bias": here,
        "h.l.weight": "float16",
        "h.l.bias": "float16",
    }


def test_definitions_of_one_name_are_told_apart(tmp_path):
    """A part that is made with either of two `inner`s records what each does."""
    put(
        tmp_path,
        "other.yaml",
        """
        tripybuild: 1
        use:
          outer.yaml: [outer]
        define:
          whole:
            inputs:
              x: F[4]
            parts:
              o: outer(inner)
            outputs:
              out: o(x)
          inner:
            inputs:
              x: F[4]
            outputs:
              out: tanh(x)
        """,
    )
    put(
        tmp_path,
        "outer.yaml",
        """
        tripybuild: 1
        define:
          outer:
            sizes: [of]
            inputs:
              x: F[4]
            parts:
              i: of
            outputs:
              out: i(x)
        """,
    )
    text = """
        use:
          outer.yaml: [outer]
          other.yaml: [whole]
        inputs:
          x: F[4]
        parts:
          a: outer(inner)
          b: whole
        outputs:
          y: a(x) * b(x)
        define:
          inner:
            inputs:
              x: F[4]
            outputs:
              out: relu(x)
        """
    made = written.graph(tmp_path, text)

    assert [operation.operator for operation in made.operations] == ["relu", "tanh", "mul"]


def test_a_model_can_be_used(tmp_path):
    """Its definitions are, with its sizes; its own inputs, parts and steps are not run."""
    put(
        tmp_path,
        "deep/model.yaml",
        """
        tripybuild: 1
        model: other
        use:
          more.yaml: [more]
        sizes:
          by: 3
        inputs:
          z: F[B, 9]
        outputs:
          out: twice(z)
        weights: not-there.safetensors
        define:
          twice:
            inputs:
              x: F[*S]
            outputs:
              out: more(x * by)
        """,
    )
    put(
        tmp_path,
        "deep/more.yaml",
        """
        tripybuild: 1
        define:
          more:
            inputs:
              x: F[*S]
            outputs:
              out: x + 1.0
        """,
    )
    text = """
        use:
          deep/model.yaml: [twice]
        inputs:
          x: F[4]
        outputs:
          y: twice(x)
        """
    path = written.write(tmp_path, text)

    got = tripybuild.compile(path, target="reference")(x=np.ones(4, np.float32))["y"]

    np.testing.assert_array_equal(got, [4, 4, 4, 4])


def test_only_what_a_file_defines_itself_can_be_used(tmp_path):
    """What a file uses is its own affair."""
    put(tmp_path, "a.yaml", "tripybuild: 1\nuse:\n  b.yaml: [b]\ndefine: {}\n")
    put(tmp_path, "b.yaml", "tripybuild: 1\ndefine:\n  b:\n    outputs:\n      out: 1\n")

    text = "use:\n  a.yaml: [b]\ninputs:\n  x: F[4]\noutputs:\n  y: x\n"

    assert [each[1:4] for each in found(tmp_path, text)] == [
        (4, "unbound-name", "`a.yaml` does not define `b`")
    ]


def test_the_manifest_names_the_used_files(tmp_path):
    """With their digests, so that an executable says what it was made of."""
    put(tmp_path, "sub/blocks.yaml", BLOCKS)
    path = written.write(
        tmp_path, USER.replace("blocks", "sub/blocks") + "weights: w.safetensors\n"
    )
    weights = build(path).graph.weights
    save_file(
        {name: np.zeros(value.shape, np.float32) for name, value in weights.items()},
        tmp_path / "w.safetensors",
    )
    tripybuild.compile(path, target="reference", output=tmp_path / "tiny.tpb")

    with zipfile.ZipFile(tmp_path / "tiny.tpb") as file:
        name = next(name for name in file.namelist() if "manifest" in name)
        provenance = json.loads(file.read(name))["provenance"]
    digest = sha256((tmp_path / "sub/blocks.yaml").read_bytes()).hexdigest()
    assert provenance["used"] == [{"path": "sub/blocks.yaml", "sha256": digest}]


# --- what goes wrong ---


def test_a_file_is_used_from_its_own_folder_or_below(tmp_path):
    """No path and no link leads out, and each wrong path is named in one run."""
    put(tmp_path, "there.yaml", "tripybuild: 1\ndefine: {}\n")
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(tmp_path / "there.yaml")
    (folder / "up").symlink_to(tmp_path)
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    long = "a" * 300
    text = f"""
        use:
          /etc/passwd: [a]
          ../there.yaml: [a]
          link.yaml: [a]
          up/there.yaml: [a]
          loop.yaml: [a]
          none.yaml: [a]
          .: [a]
          {long}: [a]
        inputs:
          x: F[4]
        outputs:
          y: x
        """
    assert [each[1:4] for each in found(folder, text)] == [
        (4, "outside-folder", "`/etc/passwd` leads out of the folder of this file"),
        (5, "outside-folder", "`../there.yaml` leads out of the folder of this file"),
        (6, "outside-folder", "`link.yaml` is a link that leads out of the folder of this file"),
        (
            7,
            "outside-folder",
            "`up/there.yaml` is a link that leads out of the folder of this file",
        ),
        (8, "file-not-found", "there is no file `loop.yaml`"),
        (9, "file-not-found", "there is no file `none.yaml`"),
        (10, "file-not-found", "there is no file `.`"),
        (11, "file-not-found", f"there is no file `{long}`"),
    ]


def test_files_that_use_each_other(tmp_path):
    """The place of each link of the circle is named; a file that uses itself is one, too."""
    put(tmp_path, "a.yaml", "tripybuild: 1\nuse:\n  b.yaml: [b]\ndefine: {}\n")
    put(tmp_path, "b.yaml", "tripybuild: 1\nuse:\n  a.yaml: [a]\n  b.yaml: [b]\ndefine: {}\n")

    text = "use:\n  a.yaml: []\ninputs:\n  x: F[4]\noutputs:\n  y: x\n"

    assert [each[:5] for each in found(tmp_path, text)][:2] == [
        ("b.yaml", 3, "cyclic-use", "`a.yaml` leads back to itself", ("by way of a.yaml:3:3",)),
        ("b.yaml", 4, "cyclic-use", "a file cannot use itself", ()),
    ]


def test_names_that_are_missing_or_given_twice(tmp_path):
    """Both places are named."""
    put(tmp_path, "blocks.yaml", BLOCKS)
    text = """
        use:
          blocks.yaml: [blok, scaled, scaled, halved]
        inputs:
          x: F[4]
        outputs:
          y: x
        define:
          halved:
            outputs:
              out: 1
        """
    assert list(found(tmp_path, text)) == [
        (
            "tiny.yaml",
            4,
            "unbound-name",
            "`blocks.yaml` does not define `blok`",
            ("what it defines is at blocks.yaml:5:1",),
        ),
        ("tiny.yaml", 4, "given-twice", "`scaled` is given already", ("first by tiny.yaml:4:23",)),
        ("tiny.yaml", 4, "given-twice", "`halved` is given already", ("first by tiny.yaml:10:3",)),
    ]


def test_what_is_wrong_in_a_used_file_is_shown_there(tmp_path):
    """Its form, its sizes and its steps; the user's own mistakes are found in the same run."""
    put(
        tmp_path,
        "form.yaml",
        "tripybuild: 1\nmodul: 3\ndefine:\n  a:\n    outputs:\n      out: 1 +\n",
    )
    text = "use:\n  form.yaml: [a]\ninputs:\n  x: f32[4]\noutputs:\n  y: x\n"

    assert [(*each[:3], each[4]) for each in found(tmp_path, text)] == [
        ("tiny.yaml", 6, "unknown-dtype", ()),
        ("form.yaml", 2, "unknown-key", ("used by tiny.yaml:4:3",)),
    ]


def test_a_step_that_fails_names_the_step_that_led_to_it(tmp_path):
    """Once, at its line, with a note for each file on the way."""
    put(
        tmp_path,
        "a.yaml",
        """
        tripybuild: 1
        use:
          b.yaml: [b]
        sizes:
          wrong: 1 // 0
        define:
          a:
            inputs:
              x: F[4]
            outputs:
              out: relu(b(x))
        """,
    )
    put(
        tmp_path,
        "b.yaml",
        """
        tripybuild: 1
        define:
          b:
            inputs:
              x: F[4]
            outputs:
              out: softmax(x, 5)
        """,
    )
    text = """
        use:
          a.yaml: [a]
        inputs:
          x: F[4]
        parts:
          h: block * 3
        outputs:
          y: h(x)
        define:
          block:
            inputs:
              x: F[4]
            outputs:
              out: a(a(x))
        """
    first, *more = found(tmp_path, text)
    assert first[:3] == ("a.yaml", 5, "snippet-evaluation")
    assert not more

    put(tmp_path, "a.yaml", (tmp_path / "a.yaml").read_text().replace("1 // 0", "1"))
    ((path, line, code, _, notes),) = found(tmp_path, text)
    assert (path, line, code) == ("b.yaml", 7, "softmax/dim")
    assert notes[-2:] == (
        "used by `a.out` at a.yaml:11:12",
        "used by `h.0.out` at tiny.yaml:16:12",
    )


def test_a_model_uses_a_hundred_files_at_most(tmp_path):
    """A chain of files ends before the stack does."""
    for i in range(101):
        put(tmp_path, f"{i}.yaml", f"tripybuild: 1\nuse:\n  {i + 1}.yaml: []\ndefine: {{}}\n")

    text = "use:\n  0.yaml: []\ninputs:\n  x: F[4]\noutputs:\n  y: x\n"

    assert [each[:3] for each in found(tmp_path, text)] == [("99.yaml", 3, "yaml-too-large")]
