"""Translation: a function of the `tensorrt` dialect to a network of TensorRT's builder."""
