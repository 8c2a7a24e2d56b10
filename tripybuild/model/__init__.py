"""Model building: a specification becomes a graph of operations."""
