"""Rewrites of modules of the `tensorrt` dialect, under the names that mlir-tensorrt gives them."""
