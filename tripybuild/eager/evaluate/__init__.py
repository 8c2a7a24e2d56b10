"""Evaluation of eager tensors: the subgraph that is needed, by references or by XLA."""
