"""Lowering: a graph with sizes put in, checked against memory, as a module of a dialect."""
