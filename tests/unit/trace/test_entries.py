"""Tests of what all models of files have in common."""

import os
import subprocess
import sys

import pytest

VALIDATES = """
from tripybuild.schema.files import OperatorFile
try:
    OperatorFile.model_validate({})
except ValueError as error:
    print(error.error_count())
"""


@pytest.mark.parametrize("disabled", [None, "another"])
def test_no_plugin_of_pydantic_takes_part(tmp_path, disabled):
    """A plugin that is installed is not even loaded, and the environment stays as it was."""
    facts = tmp_path / "noisy-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Name: noisy\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[pydantic]\nnoisy = noisy:plugin\n", encoding="utf-8")
    (tmp_path / "noisy.py").write_text("print('noisy')\n", encoding="utf-8")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    environment.pop("PYDANTIC_DISABLE_PLUGINS", None)
    if disabled:
        environment["PYDANTIC_DISABLE_PLUGINS"] = disabled

    code = f"import os; before = dict(os.environ)\n{VALIDATES}\nprint(os.environ == before)"
    assert _said(code, environment) == ["2", "True"]
    other = "import pydantic; pydantic.create_model('Other').model_validate({})"
    assert _said(other, environment) == ["noisy"]


def _said(code, environment):
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()
