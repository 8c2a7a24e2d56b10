"""Model specifications after parsing: sizes, parts, steps, and the files that they include."""
