"""Incremental generation: package fragments cached by the digest of their declaration."""
