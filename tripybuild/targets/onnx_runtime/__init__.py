"""ONNX Runtime on the processor: sessions that take arrays, and arrays as it holds them."""
