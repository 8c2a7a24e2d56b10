"""Tensors that compute themselves when they are looked at: what `import tripyapi as tp` makes.

Law: what a program prints does not depend on what ran before it, on a cache or on a clock. Which
engine computes a graph follows from the graph alone.
"""

from tripybuild.diagnostics import DiagnosticError as TripyException
from tripybuild.eager import excepthook
from tripybuild.eager.device import device
from tripybuild.eager.dimension import Dimension
from tripybuild.eager.module import Module
from tripybuild.eager.parameter import Parameter
from tripybuild.eager.sequential import Sequential
from tripybuild.eager.settings import config
from tripybuild.eager.tensor import Tensor

__all__ = [
    "Dimension",
    "Module",
    "Parameter",
    "Sequential",
    "Tensor",
    "TripyException",
    "config",
    "device",
]

excepthook.install()
