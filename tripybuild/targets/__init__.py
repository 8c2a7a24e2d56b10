"""Targets: compile MLIR to an executable, and run an executable."""
