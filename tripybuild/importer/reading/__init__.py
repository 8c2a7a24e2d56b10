"""Readings: calls of another system's operators, read by aliases and compositions as ours."""
