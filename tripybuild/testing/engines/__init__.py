"""TensorRT checks of the suites: which graphs build, which are rejected, for which GPUs."""
