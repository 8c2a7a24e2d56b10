"""`tp.Tensor`: data, device, sizes, and Python protocols."""
