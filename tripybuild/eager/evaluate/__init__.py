"""Evaluation of eager tensors: the needed subgraph, by references or by XLA."""
