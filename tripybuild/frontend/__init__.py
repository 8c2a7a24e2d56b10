"""The hand-written half of the public API: what generated functions are written in."""

from tripybuild.frontend.record import begin, record, record_any, record_several
from tripybuild.frontend.signatures import bind
from tripybuild.frontend.tensor import IndexLike, IntLike, Tensor, tensor

__all__ = [
    "IndexLike",
    "IntLike",
    "Tensor",
    "begin",
    "bind",
    "record",
    "record_any",
    "record_several",
    "tensor",
]
