"""The client, its tasks, and executables."""

import os

CALLS = []


class Executable:
    def __init__(self, content):
        self._content = content

    def serialize(self):
        return self._content


class Task:
    def __init__(self, options):
        self._options = options

    def run(self, operation):
        CALLS.append(operation.text)
        said = os.environ.get("FAKE_MLIR_TENSORRT_SAYS")
        if said is not None:
            os.write(2, said.encode())
            raise RuntimeError("InternalError: failed to run compilation task")


class CompilerClient:
    def __init__(self, context):
        self.context = context

    def get_compilation_task(self, mnemonic, options):
        assert mnemonic == "tensorrt-to-executable"
        CALLS.append(options)
        return Task(options)


def translate_mlir_to_executable(operation):
    return Executable(operation.text.encode())
