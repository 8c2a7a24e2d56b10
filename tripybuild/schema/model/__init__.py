"""Parsed model specifications: sizes, parts, steps, and included files."""
