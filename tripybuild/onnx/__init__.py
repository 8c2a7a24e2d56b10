"""ONNX: its operators as data, models and their files."""
