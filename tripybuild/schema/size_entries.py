"""Pydantic models of sizes: declared ones, records, configurations, and what a used file takes."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from tripybuild.schema.entries import Doc, Name, StrictModel
from tripybuild.schema.snippets.expressions import Expression


class SizeEntry(StrictModel):
    """A size (or another Python value) that a module is made with."""

    type: str = "int"
    optional: bool = False
    default: Expression = None
    doc: Doc


def declares_size(entry: object) -> bool:
    """Tell by its keys whether a mapping declares a size; any other is a record."""
    return isinstance(entry, dict) and not {"type", "doc"}.isdisjoint(entry)


def _size_kind(value: object) -> str:
    if isinstance(value, SizeEntry) or declares_size(value):
        return "[declared]"
    return "[record]" if isinstance(value, dict) else "[expression]"


if TYPE_CHECKING:  # whose type checker cannot resolve one that holds itself
    SizeTree = str | int | float | bool | list[Any] | SizeEntry | dict[str, Any] | None
else:
    # A size of a model: an expression, a declared one, or a record of sizes.
    SizeTree = TypeAliasType(
        "SizeTree",
        Annotated[
            Annotated[Expression, Tag("[expression]")]
            | Annotated[SizeEntry, Tag("[declared]")]
            | Annotated[dict[Name, "SizeTree"], Tag("[record]")],
            Discriminator(_size_kind),
        ],
    )

Configuration = str | dict[str, Any] | None


class UseEntry(StrictModel):
    """Definitions of another file, with sizes and dtypes of this one."""

    model_config = ConfigDict(populate_by_name=False)

    take: list[Name]
    bound: dict[Name, Expression] = Field(default_factory=dict, alias="with")
