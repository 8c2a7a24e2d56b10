"""Pydantic models of a model's `test:` section: what it is compared with, on which inputs.

Nothing of the product reads the section beyond its form; `tests/test_specs.py` does.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from tripybuild.schema.entries import Name, StrictModel

Draw = Literal["normal", "uniform", "padding", "mask", "start"]
FloatingPoint = Literal["float32", "float16", "bfloat16"]
Sizes = dict[Name, int]
# Whose code a model can be compared with; `oracles` is that of the tests.
PEER_LIBRARIES = ("transformers", "diffusers", "torchvision", "torch", "oracles")
PeerName = Annotated[
    str,
    Field(
        pattern=rf"^({'|'.join(PEER_LIBRARIES)})(\.[A-Za-z]\w*)+$",
        description="A class or function of a library, or of the oracles of the tests.",
    ),
]


class DrawEntry(StrictModel):
    """How an input of the model is drawn, and what it is called there."""

    model_config = ConfigDict(populate_by_name=False)

    as_: str | None = Field(
        default=None,
        alias="as",
        description="The argument's name there; the same by default, and none where it is empty.",
    )
    draw: Draw = Field(
        default="normal",
        description="`padding` is ones and then zeros, `mask` ones and zeros anywhere, with a one "
        "in each row; `start` is the position at which a piece starts.",
    )
    below: int | str | None = Field(
        default=None,
        description="Integers from 0 to below this: a number, a size, or a key of the config.",
    )
    values: int | float | bool | list[Any] | None = Field(
        default=None, description="The values themselves, or the one that all have."
    )


class EntryTestEntry(StrictModel):
    """One call that is compared."""

    method: str | None = Field(
        default=None, description="The method that is called; the object itself by default."
    )
    keywords: dict[str, Any] = Field(
        default_factory=dict, description="Further arguments of that call."
    )
    shapes: list[Sizes] = Field(
        default_factory=list,
        description="Dynamic sizes to compare at; the first are the static ones, too.",
    )
    along: Name | None = Field(
        default=None, description="The size along which a call is cut into `pieces`."
    )
    pieces: list[int] = Field(
        default_factory=list,
        description="How long the pieces are. State goes from one to the next, and together they "
        "must give what one call does that sees everything.",
    )
    inputs: dict[Name, DrawEntry] = Field(default_factory=dict)
    outputs: dict[Name, str] = Field(
        default_factory=dict,
        description="Where each output is in the result, as `hidden_states.1`. By default the "
        "result is the only one, has them in order, or by name.",
    )


class TestEntry(EntryTestEntry):
    """What a model is compared with: code of a library, with the same weights and inputs."""

    __test__ = False  # no test of pytest's, whatever its name

    against: PeerName
    published: PeerName | None = Field(
        default=None,
        description="What makes the full size, without arguments; by default `against` does, of "
        "the model's own `config`.",
    )
    config: dict[str, Any] = Field(
        default_factory=dict,
        description="What its config class and the model are made of, over the model's `config`.",
    )
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="Further arguments that it is made with."
    )
    sizes: dict[Name, Any] = Field(
        default_factory=dict, description="Sizes of the model, as `--set` sets them."
    )
    entries: dict[Name, EntryTestEntry] = Field(
        default_factory=dict,
        description="The calls by the name of the model's entry, where they differ from the above.",
    )
    seed: int = Field(default=0, description="That of weights and inputs.")
    tolerance: dict[FloatingPoint, float] = Field(
        default_factory=dict,
        description="The largest difference in each dtype, as a part of the root mean square.",
    )
    invariant: list[str] = Field(
        default_factory=list,
        description="Weights that no output depends on, as the bias of keys; of each other weight "
        "the comparison must notice a change.",
    )
