"""Types: dtypes, sizes, shapes and patterns of declarations. Invariant: no file is read here."""
