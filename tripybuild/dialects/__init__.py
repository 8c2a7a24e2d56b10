"""The engines' own operations: what `hlo.` and `trt.` mean in a lowering snippet."""
