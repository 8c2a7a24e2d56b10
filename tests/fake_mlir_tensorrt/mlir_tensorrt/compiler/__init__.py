"""The compiler's half."""
