"""The target `cpu`: StableHLO, compiled by XLA for each combination of sizes."""
