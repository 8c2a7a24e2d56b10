"""Translation: foreign programs to calls of our operators, each of them recorded and checked."""
