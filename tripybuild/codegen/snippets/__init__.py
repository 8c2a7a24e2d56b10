"""Kind inference: which values of a snippet are tensors, and which calls its operators allow."""
