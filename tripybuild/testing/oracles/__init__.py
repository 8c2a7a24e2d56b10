"""Test oracles: PyTorch and ONNX Runtime, called through aliases."""
