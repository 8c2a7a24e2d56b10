"""TensorRT runtime: functions of the dialect become networks, networks become engines."""
