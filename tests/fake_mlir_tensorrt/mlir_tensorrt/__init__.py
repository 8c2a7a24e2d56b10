"""A package with the interface of mlir-tensorrt 0.1.43, as nvtripy uses it, over the oracle.

What it compiles is checked by our own parser and verifier; an executable is the module's text.
"""
