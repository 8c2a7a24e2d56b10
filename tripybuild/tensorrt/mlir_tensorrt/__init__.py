"""The target `mlir-tensorrt`: NVIDIA's own compiler and runtime, release 0.1.43, as nvtripy has it.

It is given our module as text, with the weights in it, in the child process; what it makes runs
through its own runtime. Its wheels are not on PyPI, and need a GPU to build an engine.
"""
