"""Base of all file entries, and the entry for an operator's aliases."""

import keyword
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tripybuild.schema.snippets.expressions import Expression

WITHOUT_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


def _no_keyword(name: str) -> str:
    """A name becomes one of Python's, whose keywords are none."""
    if keyword.iskeyword(name):
        raise PydanticCustomError("keyword", "a keyword of Python")
    if "__" in name:
        raise PydanticCustomError("dunder", "a name of Python's own")
    return name


Name = Annotated[
    str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=80), AfterValidator(_no_keyword)
]
SnakeCase = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80), AfterValidator(_no_keyword)
]
# A method of the Tensor: a name, or one of Python's own for an operator of its syntax.
Method = Annotated[
    str,
    Field(
        pattern=r"^([a-z][a-z0-9]*(_[a-z0-9]+)*|__(getitem|abs|invert|neg|pos|eq|ne|lt|le|gt|ge"
        r"|r?(add|sub|mul|truediv|floordiv|mod|pow|matmul|and|or|xor))__)$",
        max_length=80,
    ),
]
Code = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Doc = Annotated[str, Field(min_length=3, max_length=20_000)]


class StrictModel(BaseModel):
    """Frozen and closed model: an unknown key is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, populate_by_name=True, defer_build=True
    )

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build what validates, when it is needed first.

        Plugins of pydantic have no say in it: to find some, it would read what every installed
        distribution says of itself, and that takes longer than reading a file.
        """
        with _without_plugins():
            return super().model_rebuild(**options)


@contextmanager
def _without_plugins() -> Iterator[None]:
    before = os.environ.get(WITHOUT_PLUGINS)
    os.environ[WITHOUT_PLUGINS] = "__all__"
    try:
        yield
    finally:
        if before is None:
            del os.environ[WITHOUT_PLUGINS]
        else:
            os.environ[WITHOUT_PLUGINS] = before


class CaseEntry(StrictModel):
    """What a snippet is in one case."""

    when: Expression = True
    then: str


class CasesEntry(StrictModel):
    """A snippet that is one of several: the first whose condition holds."""

    let: str | None = None
    cases: list[CaseEntry]


class DifferenceEntry(StrictModel):
    """A case in which another system's operator means something else."""

    when: Expression = True
    why: str


class ForeignEntry(StrictModel):
    """Another system's operator, called with what this one is called with."""

    call: str
    when: Expression = True
    reads: dict[Name, Expression] = Field(default_factory=dict)
    reads_when: Expression = True
    ignores: list[str] = Field(default_factory=list)
    differs: dict[Code, DifferenceEntry] = Field(default_factory=dict)
    opset: int | None = Field(default=None, ge=1)


class AliasEntry(StrictModel):
    """The names that others have for the operator."""

    tensor: Method | list[Method] | None = None
    reflected: Method | None = None
    names: list[SnakeCase] = Field(default_factory=list)
    onnx: str | ForeignEntry | list[str | ForeignEntry] | None = None
    aten: str | ForeignEntry | list[str | ForeignEntry] | None = None
