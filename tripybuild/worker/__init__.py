"""The compiler's process: its protocol, its failures as diagnostics, and the work it does."""
