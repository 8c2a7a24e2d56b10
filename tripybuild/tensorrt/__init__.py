"""TensorRT compiler: MLIR dialect, passes, networks, engines and their runtime."""
