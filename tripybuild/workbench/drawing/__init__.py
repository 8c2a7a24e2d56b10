"""Drawings: a graph with its parts, types, costs and what was measured of it, in several forms."""
