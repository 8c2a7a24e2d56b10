"""Elimination passes for transposes, reshapes and broadcasts."""
