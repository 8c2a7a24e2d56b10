"""Layers of TensorRT: the `trt` of lowering snippets, each layer declared once.

Invariant: `LAYERS` and `HELPERS` are the whole vocabulary of `trt.`, and `check_call` judges a call
in a snippet against it. A layer that TensorRT adds is one class and its builder in one of these
modules. Importing this package loads neither TensorRT nor xDSL nor NumPy.
"""
# ruff: noqa: F403  # the names of layers stand in their modules, and nowhere else

from tripybuild.tensorrt.layers.call_check import (
    HELPERS as HELPERS,
    LAYERS as LAYERS,
    check_call as check_call,
)
from tripybuild.tensorrt.layers.collectives import *
from tripybuild.tensorrt.layers.compositions import *
from tripybuild.tensorrt.layers.control import *
from tripybuild.tensorrt.layers.elementwise import *
from tripybuild.tensorrt.layers.images import *
from tripybuild.tensorrt.layers.indexing import *
from tripybuild.tensorrt.layers.linear import *
from tripybuild.tensorrt.layers.quantization import *
from tripybuild.tensorrt.layers.reductions import *
from tripybuild.tensorrt.layers.reshapes import *
from tripybuild.tensorrt.layers.shapes import *
from tripybuild.tensorrt.layers.slicing import *
from tripybuild.tensorrt.layers.sources import *
from tripybuild.tensorrt.layers.transformers import *
from tripybuild.tensorrt.layers.windows import *
from tripybuild.tensorrt.recorder.network import Network as Network
from tripybuild.tensorrt.recorder.value import NetworkValue

Value = NetworkValue
