"""`tp.compile`: a function is recorded, compiled, and called."""
