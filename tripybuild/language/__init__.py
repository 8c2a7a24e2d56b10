"""Snippet language: grammar, names, and the tree-walking evaluator.

Invariant: nothing here is compiled by Python, and nothing outside of a vocabulary can be reached.
"""
