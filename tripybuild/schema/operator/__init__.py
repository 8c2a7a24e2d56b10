"""Operators after parsing: types, snippets, laws, samples, and the checks between these."""
