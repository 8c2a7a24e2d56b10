"""Compilation: from a model and its weights to an executable, and from a file to a callable."""
