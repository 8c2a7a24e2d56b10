"""Lazy eager execution: tensors are evaluated on first access; backs `import tripyapi as tp`.

Invariant: what a program prints does not depend on what ran before it, on a cache or on a clock.
Which engine computes a graph follows from the graph alone.
"""

from tripybuild.eager import excepthook
from tripybuild.eager.module.module import Module
from tripybuild.eager.module.placeholders import Parameter
from tripybuild.eager.module.sequential import Sequential
from tripybuild.eager.settings import config
from tripybuild.eager.tensor.conversions import DimensionTensor
from tripybuild.eager.tensor.device import device
from tripybuild.eager.tensor.tensor import Tensor
from tripybuild.errors.diagnostics import DiagnosticError as TripyException

__all__ = [
    "DimensionTensor",
    "Module",
    "Parameter",
    "Sequential",
    "Tensor",
    "TripyException",
    "config",
    "device",
]

excepthook.install()
