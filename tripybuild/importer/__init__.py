"""Importers: programs of PyTorch and ONNX, read by the registry's aliases, as model specs.

`pytorch` and `onnx_model` give a `ForeignProgram`; `translation` reads its nodes as calls of our
operators, a `CallProgram`; `spec_writer` prints that as a model's file.
"""
