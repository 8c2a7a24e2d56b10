"""What a program can choose: `tp.config.nvtripy_devices = True`."""

import os

VARIABLE = "TRIPYBUILD_NVTRIPY_DEVICES"

# Whether tensors say that they are where nvtripy would have them: what is computed on `gpu:0`, what
# lists were made into on `cpu:0`. Everything runs on the CPU all the same, so that a program that
# looks at devices runs unchanged on a machine without a GPU.
nvtripy_devices: bool = os.environ.get(VARIABLE, "") not in ("", "0")
