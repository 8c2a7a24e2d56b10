"""Generation: what a cached decoder writes is what scoring the whole text anew would write."""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file
from typer.testing import CliRunner

import tripybuild
from tripybuild.cli.main import app
from tripybuild.compiler.sampling import Sampling
from tripybuild.errors.diagnostics import DiagnosticError

VOCABULARY, CONTEXT = 23, 16
SPEC = """
tripybuild: 1
model: decoder
inputs:
  tokens: int32[B, S]
  position: int32[B]
ranges:
  B: {max: 4}
  S: {opt: 4, max: 16}
parts:
  words: Embedding(23, 8)
  places: Embedding(16, 8)
  cache: memory
  head: Linear(8, 23)
steps:
  rows: unsqueeze(position, 1) + arange(S, int32)
  seen: arange(16, int32) <= unsqueeze(rows, 2)
  x: words(tokens) + places(rows)
outputs:
  logits: head(tanh(cache(x, seen, position)))
weights: w.safetensors
define:
  memory:
    doc: The mean of all words so far, each by a weight that the last word gives it.
    inputs:
      x: F[B, S, 8]
      seen: bool[B, S, 16]
      position: int32[B]
    state:
      kept: {type: "F[B, 1, 16, 8]", first: 0.0}
    next:
      kept: kv_cache_update(kept, unsqueeze(x, 1), position)
    outputs:
      out: |
        all = squeeze(next.kept, 1)
        return softmax(where(seen, x @ transpose(all, 1, 2), -inf), -1) @ all
"""
# Without positions: what came before is one vector.
RECURRENT = """
tripybuild: 1
model: recurrent
inputs:
  tokens: int32[B, S]
ranges:
  B: {max: 4}
parts:
  words: Embedding(23, 8)
  cell: cell
  head: Linear(8, 23)
outputs:
  logits: head(cell(words(tokens)))
weights: w.safetensors
define:
  cell:
    inputs:
      x: F[B, S, 8]
    state:
      last: {type: "F[B, 8]", first: 0.0}
    steps:
      sums: cumsum(x, 1) + unsqueeze(last, 1)
    next:
      last: sums[:, -1]
    outputs:
      out: sin(sums)
"""

# The next token is the sum so far modulo 5; what `memory` says counts each token of the prompt.
ENTRIES = """
tripybuild: 1
model: entries
ranges:
  P: SIZE
parts:
  sums: sums
entries:
  prefill:
    inputs:
      tokens: int32[1, P]
      position: int32[1]
      memory: F[1, 5]
    outputs:
      scores: sums(cast(tokens, F) * memory[0, 0], position)
  step:
    inputs:
      tokens: int32[1, 1]
      position: int32[1]
    outputs:
      scores: sums(cast(tokens, F), position)
define:
  sums:
    inputs:
      x: F[1, S]
      position: int32[1]
    state:
      kept: {type: "F[1, 1, 24, 1]", first: 0.0}
    steps:
      rows: unsqueeze(position, 1) + arange(S, int32)
      seen: arange(24, int32) <= unsqueeze(rows, 2)
    next:
      kept: kv_cache_update(kept, reshape(x, [1, 1, S, 1]), position)
    outputs:
      out: |
        so_far = sum(where(seen, reshape(next.kept, [1, 1, 24]), 0.0), 2, keepdim=True)
        return -abs(so_far % 5.0 - arange(5, F))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Both decoders, compiled for prompts of four tokens and for single tokens."""
    folder = tmp_path_factory.mktemp("decoders")
    random = np.random.default_rng(4)
    shapes = {"words.weight": (23, 8), "head.weight": (23, 8), "head.bias": (23,)}
    weights = {n: random.normal(0, 1.5, s).astype(np.float32) for n, s in shapes.items()}
    for name, spec in (("recurrent", RECURRENT), ("decoder", SPEC)):
        if name == "decoder":
            weights["places.weight"] = random.normal(0, 1.5, (16, 8)).astype(np.float32)
        save_file(weights, folder / "w.safetensors")
        (folder / f"{name}.yaml").write_text(spec)
        shapes = [{"B": 1, "S": 4}, {"B": 1, "S": 1}]
        path = folder / f"{name}.yaml"
        tripybuild.compile(path, shapes=shapes, output=folder / f"{name}.tpb")
        tripybuild.compile(path, target="reference", output=folder / f"{name}-reference.tpb")
    return folder


@pytest.fixture(scope="module")
def decoder(folder):
    """The one that takes positions."""
    return tripybuild.load(folder / "decoder.tpb")


@pytest.fixture(scope="module")
def recurrent(folder):
    """The one without."""
    return tripybuild.load(folder / "recurrent.tpb")


@pytest.fixture(scope="module")
def rescored(folder):
    """The greedy text of a decoder whose references score all tokens anew at each step."""
    loaded = {n: tripybuild.load(folder / f"{n}-reference.tpb") for n in ("decoder", "recurrent")}
    return lambda model, prompt, count: rescore(loaded[model.manifest["model"]], prompt, count)


def rescore(model, prompt, count):
    """Greedy decoding without a cache."""
    text = list(prompt)
    for _ in range(count):
        session = model.start(B=1)
        given = {"tokens": np.array([text], np.int32), "position": np.zeros(1, np.int32)}
        known = {name: each for name, each in given.items() if name in model.inputs}
        text.append(int(session(**known)["logits"][0, -1].argmax()))
    return text[len(prompt) :]


def texts(steps):
    """Steps as a list of tokens for each sequence."""
    rows = zip(*steps, strict=True)
    return [[token for token in row if token is not None] for row in rows]


@pytest.mark.parametrize("length", [1, 3, 4, 7])
def test_greedy_text_is_that_of_scoring_all_anew(decoder, length, rescored):
    """Prompts that fill a compiled size, are padded to one, and are cut into several."""
    prompt = [(5 * i + length) % VOCABULARY for i in range(length)]
    assert texts(tripybuild.generate(decoder, [prompt], max_tokens=6)) == [
        rescored(decoder, prompt, 6)
    ]


def test_prompts_of_different_lengths_do_not_touch_each_other(decoder, rescored):
    """Padding of one sequence is overwritten before it is seen."""
    prompts = [[3], [4, 5, 6, 7, 8, 9], [10, 11, 12]]
    found = texts(tripybuild.generate(decoder, prompts, max_tokens=5))
    assert found == [rescored(decoder, each, 5) for each in prompts]


def test_the_state_can_be_filled_to_its_last_place(decoder, rescored):
    """The last token is not given back: 16 places have room for a text of 17."""
    (found,) = texts(tripybuild.generate(decoder, [[1, 2, 3]]))
    assert len(found) == CONTEXT - 3 + 1
    assert found[:-1] == rescored(decoder, [1, 2, 3], len(found) - 1)


def test_a_sequence_ends_at_a_stop_token_and_others_go_on(decoder, rescored):
    """The stop token is part of the text."""
    prompts = [[3], [4, 5]]
    whole = [rescored(decoder, each, 6) for each in prompts]
    stop = whole[0][2]
    steps = list(tripybuild.generate(decoder, prompts, max_tokens=6, stop=[stop]))
    for text, found in zip(whole, texts(steps), strict=True):
        assert found == text[: text.index(stop) + 1 if stop in text else 6]


def test_a_model_without_positions_takes_prompts_as_they_are(recurrent, rescored):
    """Padding would change its state."""
    prompts = [[3, 4, 5], [6, 7, 8]]
    found = texts(tripybuild.generate(recurrent, prompts, max_tokens=20))
    assert found == [rescored(recurrent, each, 20) for each in prompts]
    with pytest.raises(DiagnosticError, match="takes prompts of one length"):
        list(tripybuild.generate(recurrent, [[1], [2, 3]]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prompts": []}, "there is no prompt"),
        ({"prompts": [[]]}, "must be one token or more"),
        ({"prompts": [[1.5]]}, "must be one token or more"),
        ({"prompts": [[True]]}, "must be one token or more"),
        ({"prompts": [[-1]]}, "has the token -1"),
        ({"prompts": [[23]]}, "has the token 23, of 23"),
        ({"prompts": [[1] * 17]}, "has room for 16 tokens"),
        ({"max_tokens": 0}, "must be an integer of 1 or more"),
        ({"max_tokens": 17}, "has room for 16 tokens"),
        ({"tokens": "position"}, "cannot be its tokens"),
        ({"scores": "none"}, "cannot be its scores"),
        ({"inputs": {"toke": 1}}, "has no input `toke`"),
        ({"entry": "decode"}, "has no entry `decode`"),
        ({"prompts": np.zeros((0, 3), int)}, "there is no prompt"),
        ({"prompts": [[1, [2, 3]]]}, "must be one token or more"),
        ({"prompts": ["12"]}, "must be one token or more"),
        ({"max_tokens": 2.5}, "`max_tokens` must be an integer"),
        ({"context": 0}, "`context` must be an integer of 1 or more"),
        ({"stop": 5}, "`stop` must be a list of tokens"),
        ({"stop": ["5"]}, "`stop` must be a list of tokens"),
        ({"inputs": {"cache.kept": 0}}, "`cache.kept` is state"),
        ({"temperature": float("nan")}, "`temperature` must be 0, or a number"),
        ({"temperature": "1"}, "`temperature` must be 0, or a number"),
        ({"temperature": 1e-320}, "`temperature` must be 0, or a number"),
        ({"top_k": 2.5}, "`top_k` must be an integer"),
        ({"seed": 1.5}, "`seed` must be an integer"),
        ({"top_p": 0.0}, "`top_p` must be above 0"),
    ],
)
def test_what_cannot_be_generated_is_refused(decoder, wrong, message):
    """Each before anything runs."""
    with pytest.raises(DiagnosticError, match=message):
        tripybuild.generate(decoder, **{"prompts": [[1]], **wrong})


def test_each_iteration_begins_anew(recurrent, rescored):
    """A state that has read the prompt is not given it again."""
    run = tripybuild.generate(recurrent, np.array([[3, 4]]), max_tokens=4)
    assert texts(run) == texts(run) == [rescored(recurrent, [3, 4], 4)]


@pytest.mark.parametrize("size", ["16", "{min: 4, multiple_of: 4, max: 16, opt: 8}"])
@pytest.mark.parametrize("length", [3, 8, 9, 16])
def test_a_prefill_of_other_sizes_is_padded_to_them(tmp_path, size, length):
    """The entry for prompts takes a fixed size, or multiples of one; the other takes a token."""
    fixed = ENTRIES.replace("ranges:\n  P: SIZE\n", "").replace("P]", f"{size}]")
    text = ENTRIES.replace("SIZE", size) if "{" in size else fixed
    (tmp_path / "m.yaml").write_text(text)
    model = tripybuild.compile(tmp_path / "m.yaml", target="reference")
    memory = np.full((1, 5), 2, np.float32)
    options = {"entry": "step", "prefill": "prefill", "inputs": {"memory": memory}, "context": 24}
    prompt = [(i * 2) % 5 for i in range(length)]
    (found,) = texts(tripybuild.generate(model, [prompt], max_tokens=5, **options))
    sums, wanted = sum(prompt) * 2, []
    for _ in range(5):
        wanted.append(sums % 5)
        sums += wanted[-1]
    assert found == wanted


def test_sampling_follows_the_probabilities():
    """Frequencies of 4,000 draws beside the softmax, cut as `top_k` and `top_p` say."""
    scores = np.log(np.array([0.05, 0.4, 0.25, 0.2, 0.1]))
    many = np.repeat(scores[None], 4_000, 0).astype(np.float32)
    cases = {
        Sampling(1.0): [0.05, 0.4, 0.25, 0.2, 0.1],
        Sampling(1.0, top_k=2): [0, 0.4 / 0.65, 0.25 / 0.65, 0, 0],
        Sampling(1.0, top_p=0.6): [0, 0.4 / 0.65, 0.25 / 0.65, 0, 0],
        Sampling(1.0, top_p=0.66): [0, 0.4 / 0.85, 0.25 / 0.85, 0.2 / 0.85, 0],
        Sampling(0.5): [0.0025 / 0.275, 0.16 / 0.275, 0.0625 / 0.275, 0.04 / 0.275, 0.01 / 0.275],
        Sampling(0.0): [0, 1, 0, 0, 0],
    }
    for sampling, wanted in cases.items():
        drawn = sampling.chooser(len(many))(many)
        found = np.bincount(drawn, minlength=5) / len(many)
        np.testing.assert_allclose(found, wanted, atol=0.03)


def test_a_seed_gives_one_text_in_each_batch(decoder):
    """The random numbers of a sequence are its own."""
    prompts = [[3], [4, 5, 6]]
    options = {"temperature": 2.0, "seed": 5, "max_tokens": 8}
    both = texts(tripybuild.generate(decoder, prompts, **options))
    assert both == texts(tripybuild.generate(decoder, prompts, **options))
    assert both[:1] == texts(tripybuild.generate(decoder, prompts[:1], **options))
    assert both != texts(tripybuild.generate(decoder, prompts, **{**options, "seed": 6}))


def test_scores_that_are_not_finite_end_the_run():
    """No token is made up."""
    for wrong in (np.nan, np.inf):
        with pytest.raises(DiagnosticError, match="no highest one") as error:
            Sampling().chooser(1)(np.array([[0.0, wrong]], np.float32))
        assert error.value.diagnostics[0].code == "scores-not-finite"


def run(*words, text=None):
    """The command, as a user calls it."""
    return CliRunner().invoke(app, ["generate", *map(str, words)], input=text)


def test_the_command_prints_tokens_as_they_come(folder, decoder, rescored):
    """One sequence in one line; several by their number."""
    path = folder / "decoder.tpb"
    wanted = [rescored(decoder, each, 3) for each in ([3], [4, 5])]
    one = run(path, "--prompt-ids", "-", "--max-tokens", "3", text="3\n")
    assert one.stdout == " ".join(map(str, wanted[0])) + "\n"
    assert "tokens/s" in one.stderr
    (folder / "prompts.json").write_text("[[3], [4, 5]]")
    two = run(path, "--prompt-ids", folder / "prompts.json", "--max-tokens", "3")
    assert two.stdout == "".join(f"{i}: {' '.join(map(str, w))}\n" for i, w in enumerate(wanted))
    np.save(folder / "prompts.npy", np.array([3]))
    output = folder / "out.json"
    more = ("--max-tokens", "3", "--json", "--output", output)
    data = json.loads(run(path, "--prompt-ids", folder / "prompts.npy", *more).stdout)
    assert data["sequences"] == wanted[:1] == json.loads(output.read_text())["sequences"]


def test_the_command_reads_and_prints_text(folder, decoder, rescored):
    """By a tokenizer's file."""
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    words = {f"w{i}": i for i in range(VOCABULARY)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, "w0"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(folder / "tokenizer.json"))
    options = ("--tokenizer", folder / "tokenizer.json", "--max-tokens", "3")
    found = run(folder / "decoder.tpb", "--prompt", "w4 w5", *options)
    assert found.stdout == " ".join(f"w{i}" for i in rescored(decoder, [4, 5], 3)) + "\n"


def test_a_text_needs_the_package_of_tokenizers(folder, monkeypatch):
    """It is an extra, named with what installs it."""
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    options = ("--prompt", "w4", "--tokenizer", "tokenizer.json")
    found = run(folder / "decoder.tpb", *options)
    assert "error[not-installed]" in found.stderr
    assert "tripybuild[tokenizers]" in found.stderr


def test_a_reader_that_has_enough_ends_the_command(folder):
    """As `head` does, without a word."""
    command = [sys.executable, "-m", "tripybuild", "generate", str(folder / "decoder.tpb")]
    options = ["--prompt-ids", "-", "--max-tokens", "13"]
    child = subprocess.Popen(
        [*command, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child.stdout.close()
    _, said = child.communicate(b"1\n", timeout=60)
    assert (child.returncode, said) == (141, b"")


def test_programs_can_be_recompiled(folder, decoder, rescored):
    """For executables of strangers."""
    options = ("--prompt-ids", "-", "--max-tokens", "3", "--rebuild")
    found = run(folder / "decoder.tpb", *options, text="3\n")
    assert found.stdout.split() == [str(each) for each in rescored(decoder, [3], 3)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "[" * 100_000, "is no JSON"),
        ("a.txt", "1 x", "line 1 of"),
        ("a.json", "[1, true]", "is not a list of tokens"),
        ("a.json", "{}", "is not a list of tokens"),
        ("a.json", "[", "is no JSON"),
        ("a.txt", "", "there is no prompt"),
    ],
)
def test_a_file_of_prompts_that_is_none_is_refused(folder, name, content, message):
    """With the line, where there is one."""
    (folder / name).write_text(content)
    found = run(folder / "decoder.tpb", "--prompt-ids", folder / name)
    assert found.exit_code == 1
    assert message in found.stderr
