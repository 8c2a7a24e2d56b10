"""One case: its registry is read, generated, held against the grammar, imported and run."""

import contextlib
import linecache
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile.cases import Case, with_canary
from hostile.watch import Caught, Watch
from tripybuild.codegen.conformance import find_violations
from tripybuild.codegen.modules.module import module_fragment
from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.package import assemble_package
from tripybuild.codegen.snippets.composition_check import check_builders
from tripybuild.compiler.lowering.lower import lower_stablehlo, lower_tensorrt
from tripybuild.compiler.lowering.lower_onnx import lower_onnx
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.decompose import decompose_operation
from tripybuild.model.libraries import OperatorLibrary
from tripybuild.onnx.model import DEFAULT_OPSET
from tripybuild.process import paths
from tripybuild.reference.cost import total
from tripybuild.reference.execute import execute
from tripybuild.schema.load import Registry, load
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.samples import size_places
from tripybuild.schema.registry_files import FileSubset
from tripybuild.testing import ModuleSuite, Suite
from tripybuild.testing.cases import Case as Call, sample_case
from tripybuild.testing.oracles.alias_readings import inverse_problems
from tripybuild.testing.registry import registry
from tripybuild.testing.sample import bind
from tripybuild.testing.symbolic import disagreements
from tripybuild.testing.target_facts import refusals

PATH = re.compile(r"[A-Za-z0-9_]+(/[A-Za-z0-9_]+)*\.(py|md|typed|json)")
MARKER = "<stranger"
# What is raised where something goes wrong; what is caught, and time that is over, is not among it.
FAILURES = (Exception, pytest.fail.Exception, pytest.skip.Exception)


@dataclass
class Verdict:
    """What became of a case: `refused`, `late`, `ran`, or what must not be.

    `late` is what the grammar of generated code refused, and the reader did not. `ran` counts what
    ended well.
    """

    kind: str
    detail: str = ""
    ran: dict[str, int] = field(default_factory=dict)


class _All:
    """A container of all paths."""

    def __contains__(self, _: object) -> bool:
        return True


class Laboratory:
    """Where cases are tried, one after the other, in this process.

    Args:
        folder: A folder of its own, for the files of one case at a time.
        late: Whether generated code is held against its grammar, as `gen` does.
    """

    def __init__(self, folder: Path, *, late: bool = True) -> None:
        self.folder, self.late = folder, late
        self.canary = folder / "canary" / "TOUCHED"
        self.canary.parent.mkdir(parents=True)
        self.built_in = registry(paths.registry())
        temporary = folder / "temporary"
        temporary.mkdir()
        tempfile.tempdir = str(temporary)
        sys.dont_write_bytecode = True
        self.watch = Watch(MARKER, temporary)
        self.watch.readable += (str((folder / "registry").resolve()),)
        self.number = 0
        self.finder = _Finder()
        sys.meta_path.insert(0, self.finder)

    def tried(self, case: Case, *, watched: bool = True) -> Verdict:
        """Try a case; who is not watched imports what watched ones need."""
        self.number += 1
        name = f"stranger{self.number}"
        root = self.folder / "registry" / case.folder
        shutil.rmtree(self.folder / "registry", ignore_errors=True)
        given = with_canary(case, str(self.canary))
        for path, text in given.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text.encode(errors="surrogateescape"))
        try:
            with self.watch.armed() if watched else contextlib.nullcontext():
                verdict = self._tried(root, name)
        except Caught as caught:
            verdict = Verdict("event", str(caught))
        finally:
            self._forget(name)
        if self.watch.events:
            verdict = Verdict("event", "; ".join(self.watch.events))
            self.watch.events.clear()
        if any(self.canary.parent.iterdir()):
            verdict = Verdict("event", "the canary was touched")
            shutil.rmtree(self.canary.parent)
            self.canary.parent.mkdir()
        return verdict

    def _tried(self, root: Path, package: str) -> Verdict:
        try:
            declared, files = self._generated(root, package)
        except DiagnosticError as error:
            first = error.diagnostics[0]
            late = first.code == "generated-code"
            detail = f"{first.code} {first.notes[:1]}" if late else first.code
            return Verdict("late" if late else "refused", detail)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no diagnostic
            return Verdict("internal", _spoken(error))
        wrong = [path for path in files if not PATH.fullmatch(path)]
        if wrong:
            return Verdict("event", f"a file is called {wrong[0]!r}")
        try:
            self._imported(package, files)
        except DiagnosticError as error:
            return Verdict("broken", f"import: {error.diagnostics[0].message[:200]}")
        except Exception as error:  # noqa: BLE001 - what was generated does not hold together
            return Verdict("broken", _spoken(error))
        ran: dict[str, int] = {}
        self._run(declared, package, root, ran)
        return Verdict("ran", "", ran)

    def _generated(self, root: Path, package: str) -> tuple[Registry, dict[str, str]]:
        """What `gen` would write: as after a change, when the built-in registry is known."""
        known = frozenset(self.built_in.operators)
        declared, found = load([root], FileSubset(_All(), known))
        found = found or list(check_builders(declared))
        if found:
            raise DiagnosticError(*found)
        operators = known | declared.operators.keys()
        modules = frozenset(self.built_in.modules) | declared.modules.keys()
        calls = CallResolver(operators, declared.own, package, modules)
        parts = [operator_fragment(each, calls) for each in declared.operators.values()]
        parts += [module_fragment(each, calls) for each in declared.modules.values()]
        files = assemble_package(parts, {}, package)
        if self.late and (problems := find_violations(files, package)):
            raise DiagnosticError(*problems)
        return declared, files

    def _imported(self, package: str, files: Mapping[str, str]) -> None:
        self.finder.files = {
            path.removesuffix(".py"): text for path, text in files.items() if path.endswith(".py")
        }
        for path in self.finder.files:
            if path.startswith(f"{package}/"):
                import_module(path.replace("/", ".").removesuffix(".__init__"))
            elif not path.endswith("conftest"):
                text, place = self.finder.files[path], f"{MARKER} {path}>"
                exec(compile(text, place, "exec"), {"__file__": place, "__name__": "suite"})

    def _run(self, declared: Registry, package: str, root: Path, ran: dict[str, int]) -> None:
        everything = {**self.built_in.operators, **declared.operators}
        for operator in declared.operators.values():
            if operator.name in declared.own:
                _Uses(operator, everything, package, ran).all()
        for module in declared.modules.values():
            suite = ModuleSuite(module.path, package, str(root.parent / "suite.py"))
            suite.__dict__["registry"] = declared
            suite.__dict__["homes"] = [OperatorLibrary(package)]
            _attempted(ran, "module", partial(_used_module, suite))
            for index in range(len(suite.examples[:2])):
                _attempted(ran, "module example", partial(suite.check_example, index))

    def _forget(self, package: str) -> None:
        for name in [each for each in sys.modules if each.partition(".")[0] == package]:
            del sys.modules[name]
        self.finder.files = {}
        linecache.clearcache()


class _Finder(MetaPathFinder):
    """Finds the modules of generated packages among texts."""

    def __init__(self) -> None:
        self.files: Mapping[str, str] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        place = name.replace(".", "/")
        is_package = f"{place}/__init__" in self.files
        if not is_package and place not in self.files:
            return None
        return spec_from_loader(name, self, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        name = module.__name__.replace(".", "/")
        name = f"{name}/__init__" if f"{name}/__init__" in self.files else name
        place = f"{MARKER} {name}.py>"
        module.__file__ = place
        exec(compile(self.files[name], place, "exec"), module.__dict__)


@dataclass
class _Uses:
    """All that is done with an operator; `ran` counts how it ends."""

    operator: Operator
    operators: Mapping[str, Operator]
    package: str
    ran: dict[str, int]

    def all(self) -> None:
        """Do all of it."""
        self.function = getattr(import_module(self.package), self.operator.name)
        for part in (self.calls, self.symbols, self.examples):
            _attempted(self.ran, part.__name__, part)

    def calls(self) -> None:
        """Its sample, on each engine."""
        for types in islice(legal_tuples(self.operator), 2):
            self.tried(
                "refusals", refusals, self.operator, ("tensorrt",), bind(self.operator, types)
            )
            call = sample_case(self.operator, self.function, types)
            self.tried("record", lambda call=call: call.graph)
            self.tried("eager", _eager, self.function, call)
            graph = call.graph
            self.tried("walked reference", execute, graph, call.data)
            self.tried("stablehlo", lower_stablehlo, graph)
            self.tried("tensorrt", lower_tensorrt, graph)
            self.tried("onnx", lower_onnx, graph, DEFAULT_OPSET)
            self.tried("decompose", _decomposed, call)
            self.tried("cost", total, graph)
            self.tried("aliases", _listed, inverse_problems, self.operator, [call])

    def symbols(self) -> None:
        """Its sizes as symbols."""
        for place in islice(size_places(self.operator), 2):
            self.tried("symbol", _listed, disagreements, self.operator, self.function, place)

    def examples(self) -> None:
        """Its examples and laws."""
        suite = Suite(self.operator.path, self.package, f"{MARKER} suite>")
        suite.__dict__.update(operator=self.operator, operators=self.operators)
        for example in self.operator.examples[:3]:
            self.tried("example", suite.try_example, example)
        for law in islice(self.operator.laws, 3):
            self.tried("law", suite.check_law, law)

    def tried(self, name: str, work: Callable[..., object], *given: object) -> None:
        """Do one thing."""
        _attempted(self.ran, name, partial(work, *given))


def _listed(work: Callable[..., Any], *given: object) -> list[Any]:
    return list(work(*given))


def _decomposed(call: Call) -> None:
    for operation in call.graph.operations:
        decompose_operation(operation)


def _eager(function: Callable[..., Any], call: Call) -> None:
    """Call the public function as a program does, and look at the results and the operands."""
    tensor = import_module("tripyapi").Tensor
    given = {
        name: [tensor(each) for each in array] if isinstance(array, list) else tensor(array)
        for name, array in call.arrays.items()
    }
    operands = [each for name in given for each in _several(given[name])]
    before = [np.array(each) for each in operands]
    found = function(**given, **call.attributes)
    try:
        for each in _several(found):
            np.asarray(each)
    finally:
        after = map(np.asarray, operands)
        if any(a.tobytes() != b.tobytes() for a, b in zip(before, after, strict=True)):
            raise Caught("an operand was written to")


def _several(value: Any) -> Any:
    return value if isinstance(value, tuple | list) else [value]


def _used_module(suite: ModuleSuite) -> None:
    module = suite._make_module(None)
    repr(module)
    module.initialize_dummy_parameters()
    tensor = import_module("tripyapi").Tensor
    graph = suite._build_graph("float32").graph
    inputs = {name: suite._data(name, value) for name, value in graph.inputs.items()}
    found = module(*map(tensor, inputs.values()))
    for each in found if isinstance(found, tuple) else (found,):
        np.asarray(each)


def _attempted(ran: dict[str, int], name: str, work: Callable[[], object]) -> None:
    """Do something with what a stranger says; that it fails is his problem."""
    try:
        work()
    except FAILURES as error:
        kind = "refused" if isinstance(error, DiagnosticError) else type(error).__name__
        ran[f"{name}: {kind}"] = ran.get(f"{name}: {kind}", 0) + 1
        if type(error) is MemoryError:  # NumPy's own is of a sample's sizes
            raise
    else:
        ran[name] = ran.get(name, 0) + 1


def _spoken(error: BaseException) -> str:
    trace, size_places = error.__traceback__, []
    while trace is not None:
        size_places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {str(error)[:300]} ({' > '.join(size_places[-4:])})"
