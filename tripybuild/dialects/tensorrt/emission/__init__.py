"""A recorded network becomes a module of the dialect."""

from tripybuild.dialects.tensorrt.emission.module import Emitted, Profile, emitted

__all__ = ["Emitted", "Profile", "emitted"]
