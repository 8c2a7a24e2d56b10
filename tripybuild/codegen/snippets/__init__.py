"""Kind inference: which snippet values are tensors, and which calls their operators allow."""
