"""Registries as generated packages: their plans, which are kept, and packages made of them."""
