"""Contexts and modules, as MLIR's Python bindings have them."""

from tripybuild.dialects.mlir import parser, verifier


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
