"""One module per target: from MLIR to a payload, and from a payload to a function."""
