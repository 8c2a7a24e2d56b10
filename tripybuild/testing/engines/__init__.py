"""TensorRT in the suites: which graphs it builds, refuses, and for which GPUs."""
