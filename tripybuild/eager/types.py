"""`tp.types`: what annotations of programs call the arguments that several operators take."""

from collections.abc import Sequence

from tripybuild.eager.dimension import Dimension
from tripybuild.eager.tensor import Tensor

TensorLike = Tensor | int | float | bool
IntLike = int | Dimension
ShapeLike = Sequence[IntLike]
