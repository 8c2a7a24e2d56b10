"""MLIR as text: what every dialect here shares, on top of xDSL."""
