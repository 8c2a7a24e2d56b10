"""What tests of commands share."""

import sys

import pytest

from tripybuild.cli.main import main


@pytest.fixture
def run(request, tmp_path, shared_cache, monkeypatch, capsys):
    """Runs a command beside `readers.yaml`, the test module's `SPEC`; gives what it prints.

    A failure is to be named by its exit code, and what it says is given.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "readers.yaml").write_text(request.module.SPEC, encoding="utf-8")

    def call(*words, code=0):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert (ended.value.code or 0) == code, captured.err + captured.out
        return captured.out if not code else captured.err

    return call
