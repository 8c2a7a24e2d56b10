"""Symbolic sizes: the algebra of integer expressions over named dimensions."""
