"""Process-wide services: singletons, garbage collection, files, memory, paths."""
