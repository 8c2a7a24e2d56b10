"""Clusters: jobs on the workers of a Dask scheduler, which many machines can be."""
