"""Rewriting: the driver, its worklist, and the matchers that patterns are made of."""
