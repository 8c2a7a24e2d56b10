"""Parsed operators: types, snippets, laws, samples, and the checks between these."""
