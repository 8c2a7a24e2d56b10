"""MLIR text: contexts, parsing, printing, verification, constants.

Invariant: what NVIDIA's tools write is read, and what is printed is what they would print. Problems
of a text are diagnostics with a place in it; nothing else comes out of the parser.
"""
