"""Other systems as oracles: PyTorch and ONNX Runtime compute what aliases say."""
