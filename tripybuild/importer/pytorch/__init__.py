"""Programs of PyTorch as foreign programs: exported ones, modules, checkpoints and `.pt2` files.

`exported_program` reads what `torch.export` gives, `archive` what it saves, without PyTorch. Both
hand their nodes to `assembly`. Only what needs PyTorch imports it, and when it is called.
"""
