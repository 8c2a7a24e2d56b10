"""Worker: the compiler's subprocess, its protocol, and its failures as diagnostics."""
