"""Contexts and modules, as MLIR's Python bindings have them."""

from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.reading import parser


class Context:
    def __init__(self):
        self.threads = True

    def enable_multithreading(self, enable):
        self.threads = enable


class Module:
    def __init__(self, text):
        self.text = text
        self.operation = self

    @staticmethod
    def parse(asm, context=None):
        assert context is not None
        assert not context.threads
        module = parser.parse(asm)
        assert verifier.problems(module) == []
        return Module(asm)
