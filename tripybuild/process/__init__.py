"""What belongs to the process: singletons, garbage collection, files, memory, paths."""
