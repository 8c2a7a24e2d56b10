"""Reduction: the smallest spec that still fails as a given one does."""
