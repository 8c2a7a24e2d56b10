"""`tripybuild new op` and `new model`: scaffolding, a first file that works.

Invariant: nothing that is there is overwritten, and what is written passes as it is.
"""

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.options import Registries
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import paths
from tripybuild.process.paths import display_path
from tripybuild.types.naming import LAYERS, LONGEST, is_folder, is_name

OPERATOR = """\
{modeline}tripybuild: 1
op: {name}
doc: Double each value; say here in one sentence what `{name}` gives.
types:
  T: [float32, float16, bfloat16]
inputs:
  input:
    type: T[*S]
    doc: The values.
outputs:
  output:
    type: T[*S]
    doc: The results, element by element.
reference: input + input
lower:
  tensorrt: trt.element_wise(input, input, "kSUM")
  stablehlo: hlo.add(input, input)
  onnx: onnx.Add(input, input)
targets:
  tensorrt:
    builds:
      integers:
        when: T in [int8, int32, int64]
        why: TensorRT could do more. The suite asks it, and wants to know why something is left out.
examples:
  - call: {name}([1.0, 2.5])
    gives: [2.0, 5.0]
"""

MODEL = """\
{modeline}tripybuild: 1
model: {name}
doc: Say how likely each class is; say here what `{name}` does.

sizes:
  classes: 10

inputs:
  scores: float32[B, classes]

ranges:
  B: {{min: 1, opt: 8, max: 64}}

steps:
  weights: exp(scores - max(scores, 1, keepdim=True))

outputs:
  probabilities: weights / sum(weights, 1, keepdim=True)
"""

Name = Annotated[str, typer.Argument(metavar="NAME", help="In snake_case.")]


@command
def new_operator(
    name: Name,
    *,
    folder: Annotated[str, typer.Option(help="Subfolder of the registry.")] = "math",
    registry: Registries = None,
) -> CommandResult:
    """Scaffold an operator: one YAML file."""
    _check_name(name, "an operator")
    _check_layers(name)
    _check_folder(folder)
    root = _registry(registry or [])
    file = root / folder / f"{name}.yaml"
    from tripybuild.schema.load import load_registries  # noqa: PLC0415

    known = load_registries([path for path in registry or [] if path.is_dir()])
    if name in known.operators and not file.exists():
        message = f"there is an operator `{name}` already"
        note = f"declared in {known.operators[name].path}"
        raise DiagnosticError(Diagnostic("declared-twice", message, notes=(note,)))
    _write(file, OPERATOR.format(name=name, modeline=_modeline(file, "operator")))
    command = "tripybuild gen"
    if registry:
        added = " ".join(f"--registry {path}" for path in registry)
        command += f" {added} --package my_operators"
    return _write_result(file, f"`{command}` makes it callable")


@command
def new_model(
    name: Name,
    *,
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Output folder.")] = Path("specs"),
) -> CommandResult:
    """Scaffold a model: one YAML file."""
    _check_name(name, "a model")
    file = folder / f"{name}.yaml"
    _write(file, MODEL.format(name=name, modeline=_modeline(file, "model")))
    return _write_result(file, f"`tripybuild compile {file}` makes it an executable")


def _check_name(name: str, kind: str) -> None:
    if is_name(name):
        return
    proposed = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    proposed = re.sub(r"[^a-z0-9]+", "_", proposed).strip("_0123456789")[:LONGEST]
    hint = "names are lower-case words of ASCII letters and digits, joined by `_`"
    if is_name(proposed):
        hint += f", such as `{proposed}`"
    raise DiagnosticError(
        Diagnostic("bad-name", f"`{name}` cannot be the name of {kind}", hint=hint)
    )


def _check_layers(name: str) -> None:
    """An operator becomes a function of a package, which has parts with names."""
    if name in LAYERS:
        message = f"`{name}` cannot be the name of an operator"
        hint = "every generated package has a part of that name"
        raise DiagnosticError(Diagnostic("bad-name", message, hint=hint))


def _check_folder(folder: str) -> None:
    if not folder or not is_folder(folder):
        hint = "each folder becomes a Python package: `math`, or `nn/attention`"
        message = f"`{folder}` cannot be a folder of a registry"
        raise DiagnosticError(Diagnostic("bad-name", message, hint=hint))


def _registry(added: list[Path]) -> Path:
    """Give the registry that gets the file: the last one named, or this checkout's."""
    if added:
        return added[-1]
    if paths.in_installed_package():
        message = "the built-in registry is part of an installed package and stays as it is"
        hint = "name a folder of your own: `--registry my_registry`"
        raise DiagnosticError(Diagnostic("registry-read-only", message, hint=hint))
    return display_path(paths.registry())


def _modeline(file: Path, kind: str) -> str:
    """Tell editors where the schema is, if it is in one tree with the file.

    Elsewhere it is at a path of this machine alone, which does not belong in a file.
    """
    if paths.in_installed_package() or not file.resolve().is_relative_to(paths.CHECKOUT):
        return ""
    schema = os.path.relpath(paths.schemas() / f"{kind}.json", file.resolve().parent)
    return f"# yaml-language-server: $schema={Path(schema).as_posix()}\n"


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError as error:
        message = f"`{file}` already exists"
        hint = "choose another name, or remove the file first"
        raise DiagnosticError(Diagnostic("file-exists", message, hint=hint)) from error
    except OSError as error:
        message = f"`{file}` cannot be written: {error.strerror}"
        raise DiagnosticError(Diagnostic("output-unwritable", message)) from error


def _write_result(file: Path, then: str) -> CommandResult:
    return CommandResult(remark=f"Wrote `{file}`; {then}", data={"path": file.as_posix()})
