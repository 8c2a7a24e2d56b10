"""Diagnostics: problems as data with code, span, found values and hint; their rendering."""
