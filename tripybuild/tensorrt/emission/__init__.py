"""A recorded network becomes a module of the dialect."""

from tripybuild.tensorrt.emission.module import EmissionError, Emitted, Profile, emitted

__all__ = ["EmissionError", "Emitted", "Profile", "emitted"]
