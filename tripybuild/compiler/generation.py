"""Autoregressive generation: a model with state, called for a prompt and then token by token.

The state holds the tokens so far. A call gets the next ones with the position of the first, and
gives scores of what follows each. Prompts of a batch are padded at the end, and cut into pieces for
which the model is compiled: what padding leaves in the state lies behind the position of its
sequence, where the next call overwrites it. So only a model that takes positions is padded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.artifact.call_signature import Argument, Array, CallSignature
from tripybuild.compiler.sampling import Sampling, is_integer
from tripybuild.compiler.state_session import start_for_inputs
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.trace.graph import next_name
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:  # which starts it
    from tripybuild.compiler.executable import Executable, ExecutableEntry
    from tripybuild.compiler.state_session import Session

DEFAULT_LENGTH = 128
FLOATS = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Roles:
    """Which inputs and outputs of an entry are what; None is found by its type.

    Args:
        tokens: The input that takes tokens, integers `[B, S]`.
        position: The input that takes the position of the first of them, an integer of `[B]` or
            `[()]`.
        scores: The output with the scores of the next token, `[B, S, V]` or `[B, V]`.
    """

    tokens: str | None = None
    position: str | None = None
    scores: str | None = None


@dataclass(frozen=True)
class Request:
    """What to generate.

    Args:
        prompts: Tokens, one or more for each sequence.
        max_tokens: The most tokens to add to each; by default 128, or what the state has room for.
        sampling: How a token is chosen.
        stop: Tokens that end a sequence, which they are part of.
        inputs: Further inputs of the entries, the same in each call.
        entry: The entry that is called for each token.
        prefill: The entry that is called for the prompt; by default the same one.
        context: How many tokens the state has room for; by default the most that a call takes.
        roles: What the inputs and outputs are.
    """

    prompts: Sequence[Sequence[int]]
    max_tokens: int | None = None
    sampling: Sampling = field(default_factory=Sampling)
    stop: Sequence[int] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    entry: str | None = None
    prefill: str | None = None
    context: int | None = None
    roles: Roles = field(default_factory=Roles)


class Generation:
    """A run over a batch of prompts. Iterate it: each step is one token for each sequence.

    A step is a list with a token, or None for each sequence that has ended. Each iteration begins
    anew, with a state of its own.

    Raises:
        DiagnosticError: The model cannot be driven so, a prompt does not fit, or scores are NaN.
    """

    def __init__(self, model: "Executable", request: Request) -> None:
        self.request = request
        first = request.entry if request.prefill is None else request.prefill
        entries = (model.entry(request.entry), model.entry(first))
        _check_inputs(request.inputs, entries)
        self.decode, self.prefill = (_Decoder(each, request) for each in entries)
        self.prompts = _check_prompts(request.prompts, self.decode)
        self.lengths = np.array([len(prompt) for prompt in self.prompts])
        self.context = self._context()
        self.room = self._room()
        self.model = model
        # Begun before the first step, so that what is wrong with it is refused here.
        self._begun: Session | None = self._start()

    def _start(self) -> "Session":
        """A session for the sizes of the first call."""
        longest = int(self.lengths.max())
        _, width = self.prefill.piece(longest, longest if self.context is None else self.context)
        given = self.prefill.inputs(self._padded(width), self.lengths * 0)
        return start_for_inputs(self.model, self.prefill.entry, given)

    def __iter__(self) -> Iterator[list[int | None]]:
        session, self._begun = self._begun or self._start(), None
        choose = self.request.sampling.chooser(len(self.prompts))
        scores, stop = self._read_prompts(session), frozenset(self.request.stop)
        positions, live = self.lengths.copy(), np.ones(len(self.prompts), bool)
        for count in range(self.room):
            tokens = choose(scores)
            yield [int(each) if on else None for each, on in zip(tokens, live, strict=True)]
            live &= [int(each) not in stop for each in tokens]
            if not live.any() or count + 1 == self.room:
                return
            scores = self.decode.call(session, tokens[:, None], positions)[:, -1]
            # A sequence that has ended stays where it is: its state must not grow over its room.
            positions += live

    def _room(self) -> int:
        """How many tokens to add."""
        request, longest = self.request, int(self.lengths.max())
        for name in ("max_tokens", "context"):
            number = getattr(request, name)
            if number is not None and not (is_integer(number) and number > 0):
                message = f"`{name}` must be an integer of 1 or more, but is {number!r}"
                raise DiagnosticError(Diagnostic("wrong-value", message))
        if not isinstance(request.stop, Sequence) or not all(map(is_integer, request.stop)):
            message = f"`stop` must be a list of tokens, but is {request.stop!r}"
            raise DiagnosticError(Diagnostic("wrong-type", message))
        limit = self.context
        if limit is None:
            return request.max_tokens or DEFAULT_LENGTH
        # The last token is not given back to the model.
        most = limit - longest + 1
        if (request.max_tokens or 1) > most:
            message = f"`{self.decode.entry.label}` has room for {limit} tokens"
            wanted = f"{longest} of the prompt and {request.max_tokens or 1} more are asked for"
            hint = "shorten the prompt" if most < 1 else f"at most {most} can be generated"
            raise DiagnosticError(Diagnostic("size-out-of-range", message, None, wanted, hint=hint))
        return request.max_tokens or min(DEFAULT_LENGTH, most)

    def _context(self) -> int | None:
        """How many tokens the state has room for; None where it has no positions."""
        if self.request.context is not None or self.decode.position is None:
            return self.request.context
        most = [each.sizes.max for each in (self.decode, self.prefill)]
        found = max((each for each in most if each is not None), default=1)
        if None in most or found == 1:
            message = f"`{self.decode.entry.label}` does not tell how many tokens its state holds"
            hint = "say it with `context` (`--context 1024`)"
            raise DiagnosticError(Diagnostic("missing-size", message, hint=hint))
        return found

    def _padded(self, count: int) -> Array:
        """The prompts as `[B, count]`; shorter ones repeat their last token."""
        rows = [[*prompt, *[prompt[-1]] * count][:count] for prompt in self.prompts]
        return np.array(rows, np.int64)

    def _read_prompts(self, session: "Session") -> Array:
        """Give the prompts to the model; the scores `[B, V]` of what follows each."""
        prefill, longest, begin = self.prefill, int(self.lengths.max()), 0
        if not prefill.can_pad and (self.lengths != longest).any():
            message = f"`{prefill.entry.label}` takes prompts of one length"
            label = f"these have {int(self.lengths.min())} to {longest} tokens"
            hint = "generate for them one by one"
            raise DiagnosticError(Diagnostic("shape-mismatch", message, None, label, hint=hint))
        found: Array | None = None
        while begin < longest:
            room = longest if self.context is None else self.context
            count, width = prefill.piece(longest - begin, room - begin)
            tokens = self._padded(begin + width)[:, begin:]
            scores = prefill.call(session, tokens, np.full(len(self.prompts), begin))
            if found is None or not prefill.scores_all:
                found = scores[:, -1]
            if prefill.scores_all:
                last = self.lengths - 1 - begin
                here = (last >= 0) & (last < count)
                found = np.where(here[:, None], scores[np.arange(len(last)), last * here], found)
            begin += count
        assert found is not None
        return found


class _Decoder:
    """An entry as a function of tokens and positions."""

    def __init__(self, entry: "ExecutableEntry", request: Request) -> None:
        known = entry.signature.inputs
        self.entry = entry
        self.extra = {name: each for name, each in request.inputs.items() if name in known}
        if not entry.states:
            message = f"`{entry.label}` has no state, so it cannot go on from token to token"
            hint = "generation needs a decoder with `state:`"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
        kept, roles = {*entry.states, *self.extra}, request.roles
        inputs = {name: each for name, each in known.items() if name not in kept}
        whole = {n: each for n, each in inputs.items() if each.dtype.numpy.kind in "iu"}
        tokens = _choose(entry, "tokens", roles.tokens, whole, (2,))
        if tokens is None:
            message = f"`{entry.label}` takes no tokens: it has no input of integers `[B, S]`"
            raise DiagnosticError(Diagnostic("wrong-value", message))
        self.tokens = whole.pop(tokens)
        position = _choose(entry, "position", roles.position, whole, (0, 1))
        self.position = None if position is None else whole[position]
        signature = CallSignature(entry.label, {**entry.manifest, "inputs": self._results()})
        scores = _choose(entry, "scores", roles.scores, signature.inputs, (2, 3))
        if scores is None:
            message = (
                f"`{entry.label}` gives no scores: it has no floating-point output `[B, S, V]`"
            )
            raise DiagnosticError(Diagnostic("wrong-value", message))
        self.scores, self.scores_all = scores, len(signature.inputs[scores].shape) == 3
        if rest := [name for name in inputs if name not in (tokens, position)]:
            message = f"`{entry.label}` needs the input `{rest[0]}`"
            hint = "generation knows tokens and positions; others are `--input NAME=FILE`"
            raise DiagnosticError(Diagnostic("missing-input", message, hint=hint))

    def _results(self) -> list[dict[str, Any]]:
        """The outputs that can be scores, as the manifest has them."""
        updated = {next_name(name) for name in self.entry.states}
        own = [each for name, each in self.entry.outputs.items() if name not in updated]
        return [each for each in own if each["dtype"] in FLOATS]

    @property
    def can_pad(self) -> bool:
        """Whether sequences of different lengths can stand in one call."""
        return self.scores_all and self.position is not None and len(self.position.shape) == 1

    @property
    def sizes(self) -> SizeRange:
        """How many tokens a call can take."""
        count = self.tokens.shape[1]
        ranges = self.entry.signature.ranges
        if isinstance(count, int):
            return SizeRange(count, count, count, 1)
        return ranges.get(str(count), SizeRange(1, 1, None, 1))

    def piece(self, left: int, room: int) -> tuple[int, int]:
        """How many tokens of a prompt the next call takes, and its size with padding.

        Sizes for which the model is compiled come first, since others are compiled at the call.
        """
        sizes, name = self.sizes, str(self.tokens.shape[1])
        left = left if sizes.max is None else min(left, sizes.max)
        made = {shape.get(name, sizes.opt) for shape in self.entry.manifest["shapes"]}
        if left in made or self.position is None or not self.scores_all:
            return left, left
        if larger := [size for size in made if left < size <= room]:
            return left, min(larger)
        if (smaller := max(made)) > max(1, left // 8) and smaller <= left:
            return smaller, smaller
        step = sizes.multiple_of
        least = max(sizes.min, -(-left // step) * step)
        doubled = max(least, -(-(1 << (left - 1).bit_length()) // step) * step)
        fitting = [n for n in (doubled, least) if n <= room and sizes.violation(name, n) is None]
        return left, fitting[0] if fitting else left

    def inputs(self, tokens: Array, positions: Array) -> dict[str, Any]:
        """The inputs of a call, but for the state."""
        given = {**self.extra, self.tokens.name: tokens.astype(self.tokens.dtype.numpy)}
        if self.position is not None:
            # One position for all is that of the sequences that have not ended.
            place = positions if self.position.shape else positions.max()
            given[self.position.name] = place.astype(self.position.dtype.numpy)
        return given

    def call(self, session: "Session", tokens: Array, positions: Array) -> Array:
        """The scores `[B, S, V]` of what follows the tokens, or `[B, 1, V]` of the last alone."""
        results = session.entry(self.entry.name)(**self.inputs(tokens, positions))
        scores = np.asarray(results[self.scores], np.float32)
        return scores if self.scores_all else scores[:, None]


def _choose(
    entry: "ExecutableEntry",
    role: str,
    name: str | None,
    inputs: Mapping[str, Argument],
    ranks: Sequence[int],
) -> str | None:
    """The input of a role: the one that is named, or the only one of its type.

    Raises:
        DiagnosticError: The named one is not there, or several could be meant.
    """
    fitting = [n for n, each in inputs.items() if len(each.shape) in ranks]
    if name is not None:
        if name in fitting:
            return name
        known = ", ".join(f"`{each}`" for each in fitting) or "none"
        message = f"`{name}` of `{entry.label}` cannot be its {role}"
        hint = f"what can be: {known}"
        raise DiagnosticError(Diagnostic("unknown-input", message, hint=hint))
    if len(fitting) > 1:
        listed = ", ".join(f"`{each}`" for each in fitting)
        message = f"`{entry.label}` has several inputs that can be its {role}: {listed}"
        raise DiagnosticError(
            Diagnostic("wrong-value", message, hint=f"say which: `--{role} NAME`")
        )
    return fitting[0] if fitting else None


def _check_inputs(given: Mapping[str, Any], entries: Sequence["ExecutableEntry"]) -> None:
    """Refuse further inputs that no entry takes, and state, which the run keeps."""
    known = {name for entry in entries for name in entry.signature.inputs}
    states = {name for entry in entries for name in entry.states}
    for name in given:
        if name in states or name not in known:
            near = suggest(name, known - states)
            hint = f"did you mean `{near}`?" if near else None
            message = f"`{entries[0].label}` has no input `{name}`"
            if name in states:
                message, hint = f"`{name}` is state, which generation keeps", "leave it out"
            raise DiagnosticError(Diagnostic("unknown-input", message, hint=hint))


def _check_prompts(prompts: Sequence[Sequence[int]], decoder: _Decoder) -> list[list[int]]:
    """The prompts as lists of integers that the model's tokens can be."""
    if not len(prompts):  # of an array, too
        raise DiagnosticError(Diagnostic("wrong-value", "there is no prompt to go on from"))
    info = np.iinfo(decoder.tokens.dtype.numpy)
    vocabulary = decoder.entry.outputs[decoder.scores]["shape"][-1]
    most = vocabulary if isinstance(vocabulary, int) else int(info.max) + 1
    return [_check_prompt(number, each, most) for number, each in enumerate(prompts)]


def _check_prompt(number: int, prompt: Sequence[int], most: int) -> list[int]:
    tokens = list(prompt) if isinstance(prompt, (Sequence, np.ndarray)) else []
    if not tokens or not all(map(is_integer, tokens)):
        message = f"prompt {number} must be one token or more, as integers"
        raise DiagnosticError(Diagnostic("wrong-type", message))
    if wrong := [each for each in tokens if not 0 <= each < most]:
        message = f"prompt {number} has the token {wrong[0]}, of {most} that there are"
        hint = "it may be of another tokenizer"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
    return [int(each) for each in tokens]
