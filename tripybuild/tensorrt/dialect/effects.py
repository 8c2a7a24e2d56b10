"""Effect traits for rewrites, beside xDSL's own (`Pure`, `ConstantLike`).

Invariant: `traits_def(Pure(), ...)`: an operation without `Pure` or `RecursiveMemoryEffect` is kept
even without uses, and never merged with another.
"""

from dataclasses import dataclass

from xdsl.traits import OpTrait


@dataclass(frozen=True)
class ElementwiseMappable(OpTrait):
    """Each element of the result is a function of the elements at the same place."""
