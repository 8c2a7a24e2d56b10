"""Passes that remove transposes, reshapes and broadcasts."""
