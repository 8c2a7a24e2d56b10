"""The runtime's half."""
