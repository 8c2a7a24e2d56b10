"""`tp.Module`: parameters, state, and modules of modules."""
