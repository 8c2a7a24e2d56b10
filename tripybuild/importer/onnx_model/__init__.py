"""Programs of ONNX: files, models and functions as foreign programs."""
