"""`tp.Module`: parameters, state, and nested modules."""
