"""TensorRT and TensorRT-RTX: functions of the dialect become networks, networks become engines."""
