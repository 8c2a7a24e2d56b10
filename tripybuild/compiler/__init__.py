"""Compilation: a model and its weights to an executable, and a file to a callable."""
