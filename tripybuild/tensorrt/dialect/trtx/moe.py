"""Mixture of experts: each token is routed to the experts chosen for it."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tripybuild.tensorrt.dialect import types
from tripybuild.tensorrt.dialect.base import (
    SEGMENTED,
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.trtx.attributes import enumeration
from tripybuild.tensorrt.dialect.trtx.operand_checks import check_equal_sizes, check_rank
from tripybuild.tensorrt.shape_rules import Sizes, differ

_FLOAT = types.FLOAT_TENSOR
_PLACES = ("batch", "sequence")
_TRIO = ("gate", "up", "down")


@operation
class MoEOp(TensorrtOperation):
    """`down(activation(gate(x)) * up(x))` of each chosen expert, times its score, summed.

    The tokens are `[batch, sequence, hidden]`, experts and scores `[batch, sequence, chosen]`, and
    weights `[experts, hidden, inner]`, for `down` the other way round.
    """

    name = "trtx.moe"
    irdl_options = SEGMENTED
    hidden = operand_def(VarConstraint("T", _FLOAT))
    experts = operand_def(types.tensor(types.I32, types.I64))
    scores = operand_def(_FLOAT)
    gate_weights = operand_def(_FLOAT)
    up_weights = operand_def(_FLOAT)
    down_weights = operand_def(_FLOAT)
    gate_bias = opt_operand_def(_FLOAT)
    up_bias = opt_operand_def(_FLOAT)
    down_bias = opt_operand_def(_FLOAT)
    activation = prop_def(
        enumeration("expert_activation"),
        default_value=enumeration("expert_activation").attribute("kSILU"),
    )
    result = result_def(VarConstraint("T", _FLOAT))
    assembly_format = (
        "attr-dict `ins` `(` $hidden `,` $experts `,` $scores"
        " `:` type($hidden) `,` type($experts) `,` type($scores) `)`"
        " `weights` `(` $gate_weights `,` $up_weights `,` $down_weights"
        " `:` type($gate_weights) `,` type($up_weights) `,` type($down_weights) `)`"
        " (`gate_bias` `(` $gate_bias^ `:` type($gate_bias) `)`)?"
        " (`up_bias` `(` $up_bias^ `:` type($up_bias) `)`)?"
        " (`down_bias` `(` $down_bias^ `:` type($down_bias) `)`)?"
    )
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The tokens' type."""
        return [Component(sizes(self.hidden), element(self.hidden))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Tokens, choices and weights belong together."""
        for name in ("hidden", "experts", "scores", *(f"{each}_weights" for each in _TRIO)):
            yield from check_rank(self, name, 3)
        tokens, chosen, scores = sizes(self.hidden), sizes(self.experts), sizes(self.scores)
        for what, size, wanted in zip(_PLACES, chosen, tokens, strict=False):
            yield from check_equal_sizes("experts", f"the {what} of the tokens,", size, wanted)
        for what, size, wanted in zip((*_PLACES, "choices"), scores, chosen, strict=True):
            yield from check_equal_sizes("scores", f"the {what} of the experts,", size, wanted)
        yield from self._weights(tokens)
        yield from self._biases()

    def _weights(self, tokens: Sizes) -> Iterator[str]:
        gate, up, down = (sizes(getattr(self, f"{each}_weights")) for each in _TRIO)
        yield from check_equal_sizes(
            "gate_weights", "the hidden size of the tokens,", gate[1], tokens[2]
        )
        if any(map(differ, up, gate)):
            yield "gate_weights and up_weights must have the same shape"
        if any(map(differ, down, (gate[0], gate[2], gate[1]))):
            yield "down_weights must have the shape of gate_weights with its last two sizes swapped"

    def _biases(self) -> Iterator[str]:
        biases = [getattr(self, f"{each}_bias") for each in _TRIO]
        if any(each is None for each in biases):
            if any(each is not None for each in biases):
                yield "the three biases are given together or not at all"
            return
        for name in _TRIO:
            weights, bias = sizes(getattr(self, f"{name}_weights")), f"{name}_bias"
            yield from check_rank(self, bias, 2)
            experts, width = sizes(getattr(self, bias))
            yield from check_equal_sizes(
                bias, "a row for each of the experts,", experts, weights[0]
            )
            yield from check_equal_sizes(
                bias, "a number for each output of its layer,", width, weights[2]
            )
