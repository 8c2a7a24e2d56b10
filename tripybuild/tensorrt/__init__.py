"""The TensorRT compiler: its dialect in MLIR, passes, networks, engines and their runtime."""
