"""The targets that build engines of TensorRT: ranges of a model become optimization profiles."""
