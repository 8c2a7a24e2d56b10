"""Writing MLIR's text as MLIR's own printer does."""
