"""Profiles: where the time of a call goes, by kernels, operations, parts and lines."""
