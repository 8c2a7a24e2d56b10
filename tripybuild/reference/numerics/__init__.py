"""Numerics of references beside NumPy: named helpers, and rounding to dtypes."""
