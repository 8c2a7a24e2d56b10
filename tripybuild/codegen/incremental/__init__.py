"""Incremental generation: fragments of packages, kept by the digest of their declaration."""
