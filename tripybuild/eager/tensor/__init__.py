"""`tp.Tensor`: data, device, sizes, and what Python may do with it."""
