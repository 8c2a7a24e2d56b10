"""Models written as nvtripy's users write them, each beside the same model in PyTorch."""
