"""Weights: checkpoints in safetensors files, and files of arrays."""
