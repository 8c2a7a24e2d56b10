"""Independent computations of the models' results, with other libraries and from the same files."""
