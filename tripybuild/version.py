"""Version of the package; a test compares it with the project's metadata."""

VERSION = "0.1.0"
