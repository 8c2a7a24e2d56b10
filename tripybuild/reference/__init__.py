"""Reference semantics in NumPy: the oracle of the suites, and the `reference` target."""
