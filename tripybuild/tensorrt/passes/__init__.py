"""Passes on the `tensorrt` dialect, under mlir-tensorrt's names."""
