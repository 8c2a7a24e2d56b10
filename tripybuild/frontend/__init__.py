"""Frontend: the hand-written half of the public API that generated functions use."""

from tripybuild.frontend.binding import bind
from tripybuild.frontend.checks.attribute_checks import DeviceLike
from tripybuild.frontend.record import begin, record, record_any, record_several
from tripybuild.frontend.sizes import are_sizes, dimension, size_of
from tripybuild.frontend.tensor import IndexLike, IntLike, Tensor, dtype_of, tensor, to_device

__all__ = [
    "DeviceLike",
    "IndexLike",
    "IntLike",
    "Tensor",
    "are_sizes",
    "begin",
    "bind",
    "dimension",
    "dtype_of",
    "record",
    "record_any",
    "record_several",
    "size_of",
    "tensor",
    "to_device",
]
