"""What references compute with beside NumPy: named helpers, and numbers in their dtypes."""
