"""Export: models as files of ONNX, with their weights where they are."""
