"""Pattern rewriting: driver, worklist, and matchers."""
