"""Strict YAML and JSON as plain data, with a span for every key and value."""
