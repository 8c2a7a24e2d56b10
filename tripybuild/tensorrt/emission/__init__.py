"""Emission: a recorded network becomes a module of the dialect."""

from tripybuild.tensorrt.emission.module import EmissionError, EmittedModule, Profile, emit_module

__all__ = ["EmissionError", "EmittedModule", "Profile", "emit_module"]
