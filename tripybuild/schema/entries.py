"""What all entries of a file are made of, and the entry of an operator's names elsewhere."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tripybuild.schema.expressions import Expression

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=80)]
SnakeCase = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
Code = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Doc = Annotated[str, Field(min_length=3, max_length=20_000)]


class Strict(BaseModel):
    """Frozen, and closed: a key that nobody reads is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, populate_by_name=True, defer_build=True
    )


class DifferenceEntry(Strict):
    """A case in which another system's operator means something else."""

    when: Expression = True
    why: str


class ForeignEntry(Strict):
    """Another system's operator, called with what this one is called with."""

    call: str = Field(description="Its call, as in `softmax.int(input, dim)`.")
    when: Expression = Field(default=True, description="The calls that it can say, too.")
    reads: dict[Name, Expression] = Field(
        default_factory=dict, description="Arguments, as expressions over the other's arguments."
    )
    differs: dict[Code, DifferenceEntry] = Field(default_factory=dict)


class AliasEntry(Strict):
    """The names that others have for the operator."""

    tensor: str | list[str] | None = None
    reflected: str | None = None
    onnx: str | ForeignEntry | list[str | ForeignEntry] | None = None
    aten: str | ForeignEntry | list[str | ForeignEntry] | None = None
