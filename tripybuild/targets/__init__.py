"""Targets: from MLIR to an executable, and from an executable to results."""
