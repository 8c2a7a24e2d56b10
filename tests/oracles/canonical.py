"""What `canonicalize` makes of a function: valid, a fixed point, and with the same values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oracles import tensorrt_numpy as oracle
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes import canonicalize


@dataclass(frozen=True)
class Canonical:
    """The ops of a module after the pass, in order, and its text."""

    names: tuple[str, ...]
    text: str

    def __contains__(self, part: str) -> bool:
        return part in self.text


def canonical(text: str, *, evaluated: bool = True, **arguments: Any) -> Canonical:
    """Run the pass, and again, which changes nothing; `evaluated`: the oracle knows all ops."""
    if evaluated:
        oracle.assert_same(text, "canonicalize", **arguments)
    module = oracle.parsed(text)
    canonicalize.run(module)
    first = printer.text(module)
    assert not oracle.verifier.problems(module), first
    canonicalize.run(module)
    assert printer.text(module) == first
    return Canonical(tuple(oracle.names(module)), first)


def function(body: str, arguments: Sequence[str], result: str) -> str:
    """A function of `%a`, `%b`, ... whose result is `%r`."""
    given = ", ".join(f"%{name}: {type}" for name, type in zip("abcde", arguments, strict=False))
    return f"func.func @main({given}) -> {result} {{\n{body}\nreturn %r : {result}\n}}\n"
