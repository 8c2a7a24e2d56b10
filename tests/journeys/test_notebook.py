"""The journey of somebody from PyTorch: cells of a notebook, run by IPython."""

import json

import pytest

# Each cell, and what it shows; None for nothing.
CELLS = [
    ("import numpy as np, torch, tripyapi as tp", []),
    ("x = tp.Tensor(np.ones((2, 3)), dtype=tp.float32)\nx", ["tensor(", "shape=(2, 3)"]),
    ("tp.randn(2, 3)", ["did you mean `random_normal`?"]),
    ("x.detach()", ["nothing is differentiated here: leave it out"]),
    ("[row.tolist() for row in x]", ["[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"]),
    (
        (
            "source = torch.nn.Linear(3, 2)\n"
            "linear = tp.Linear(3, 2)\n"
            "linear.load_state_dict(source.state_dict())"
        ),
        ["(set(), set())"],
    ),
    ("linear.eval()", ["there are no modes: leave it out"]),
    (
        (
            "wanted = source(torch.ones(2, 3)).detach().numpy()\n"
            "bool(np.allclose(np.asarray(linear(x)), wanted, atol=1e-6))"
        ),
        ["True"],
    ),
    (
        (
            "def attend(q):\n"
            "    return tp.softmax(q @ tp.transpose(q, 0, 1) * q.shape[-1] ** -0.5)\n"
            "info = tp.InputInfo([(1, 2, 8), 3], tp.float32)\n"
            "compiled = tp.compile(attend, args=[info])\n"
            "bool(tp.allclose(compiled(x), attend(x)))"
        ),
        ["True"],
    ),
    ("compiled", ["Executable("]),
    ("compiled(tp.ones((2, 4)))", ["error[", "must be"]),
    ("x @ x", ["error[matmul/contractible]", "Each row of [2, 3] has 3 values"]),
    ("x[[0, 1]]", ["a list has two meanings"]),
    ("'detach' in dir(x), 'value' in dir(x), 'shape' in dir(x)", ["(False, False, True)"]),
]
RUN = """\
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
shell, shown = InteractiveShell.instance(colors="nocolor"), []
for cell in json.load(open("cells.json")):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        shell.run_cell(cell, store_history=True)
    shown.append(printed.getvalue())
json.dump(shown, open("shown.json", "w"))
"""


def test_cells(newcomer):
    """Eager tensors, modules, compiled functions, and errors that show the cell alone."""
    pytest.importorskip("IPython", reason="ipython is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    newcomer.write("cells.json", json.dumps([cell for cell, _ in CELLS]))
    newcomer.write("run.py", RUN)
    newcomer.run("python", "run.py", IPYTHONDIR=str(newcomer.folder / "ipython"))
    shown = json.loads((newcomer.folder / "shown.json").read_text())
    for (cell, wanted), text in zip(CELLS, shown, strict=True):
        assert all(each in text for each in wanted), f"{cell}\n{text}"
        assert "site-packages" not in text, f"{cell}\n{text}"
        assert text.count("Traceback") == 0, f"{cell}\n{text}"
