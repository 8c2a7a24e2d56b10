"""MLIR printer, byte-compatible with MLIR's own."""
