"""Command line. Invariant: only this package prints, parses flags or exits."""
