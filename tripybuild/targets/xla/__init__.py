"""XLA's CPU compiler and runtime through PJRT."""
