"""The target `cpu`, which chooses one of its engines for each model.

The engine is chosen by what the model computes, never by what was faster, so that a model gives the
same numbers wherever it is compiled. The manifest names the engine, which then loads and runs it.
"""

from tripybuild.model.model_graph import ModelGraph
from tripybuild.targets.cpu.xla import Xla
from tripybuild.targets.protocol import Target
from tripybuild.targets.table import find_target


class Cpu(Xla):
    """The processor; files that name no engine are XLA's."""

    def choose_engine(self, built: ModelGraph) -> Target:
        """The engine for a model."""
        return find_target(choose_engine(built))


def choose_engine(built: ModelGraph) -> str:
    """The name of the engine that compiles a model: XLA's, whatever it computes."""
    del built
    return "cpu:xla"
