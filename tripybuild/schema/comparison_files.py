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
    Field(pattern=rf"^({'|'.join(PEER_LIBRARIES)})(\.[A-Za-z]\w*)+$"),
]


class DrawEntry(StrictModel):
    """How an input of the model is drawn, and what it is called there."""

    model_config = ConfigDict(populate_by_name=False)

    as_: str | None = Field(default=None, alias="as")
    draw: Draw = "normal"
    below: int | str | None = None
    values: int | float | bool | list[Any] | None = None


class EntryTestEntry(StrictModel):
    """One call that is compared."""

    method: str | None = None
    keywords: dict[str, Any] = Field(default_factory=dict)
    shapes: list[Sizes] = Field(default_factory=list)
    along: Name | None = None
    pieces: list[int] = Field(default_factory=list)
    inputs: dict[Name, DrawEntry] = Field(default_factory=dict)
    outputs: dict[Name, str] = Field(default_factory=dict)


class TestEntry(EntryTestEntry):
    """What a model is compared with: code of a library, with the same weights and inputs."""

    __test__ = False  # no test of pytest's, whatever its name

    against: PeerName
    published: PeerName | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    arguments: dict[str, Any] = Field(default_factory=dict)
    sizes: dict[Name, Any] = Field(default_factory=dict)
    entries: dict[Name, EntryTestEntry] = Field(default_factory=dict)
    seed: int = 0
    tolerance: dict[FloatingPoint, float] = Field(default_factory=dict)
    invariant: list[str] = Field(default_factory=list)
