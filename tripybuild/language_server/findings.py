"""Findings: what building a file tells of it, also where the build fails.

Values are kept by the place of the file's data that they are of, `("define", "encoder", "steps",
"scores")`, so that they stay where their keys go while the text changes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tripybuild.codegen.modules.module import module_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.codegen.snippets.composition_check import check_snippets
from tripybuild.compiler.check.check import ABSENT, ModelCheck, check_built
from tripybuild.compiler.check.devices import HERE, Roofline
from tripybuild.documents.composer import Location
from tripybuild.documents.document import LARGEST_FILE, Document, parse, read_text
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Related, Span
from tripybuild.errors.limits import first_problems
from tripybuild.frontend import Tensor
from tripybuild.language_server.analysis import Analysis
from tripybuild.model.graph_builder import build
from tripybuild.packages.libraries import model_libraries
from tripybuild.process import paths
from tripybuild.schema.kinds import DEFINE, KINDS, WORKSPACE, kind_of
from tripybuild.schema.load import load
from tripybuild.schema.model.model import elaborate_definitions
from tripybuild.schema.registry_files import FileSubset, ModuleDeclaration
from tripybuild.schema.registry_folders import TARGETS, root_name, sources
from tripybuild.schema.validate import validate
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype
from tripybuild.types.size_range import SizeRange
from tripybuild.workspace.matrix import all_builds
from tripybuild.workspace.workspace_file import read_workspace

Texts = Mapping[Path, str]
# Of costs, only what does not depend on the device is shown, so that nothing has to be measured.
DEVICE = Roofline(HERE, "", {"float32": 1.0}, 1.0)
MOST_PATHS = 4
MOST_SEEN = 16  # different values of one place that are kept
DEFAULT_VARIABLES = {"F": "float32"}
_WORD = re.compile(r"\b[A-Za-z]\w*")
_FAMILIES = ("like", "extends")
_NO_CALLS = {"families", "foreign", TARGETS}  # whose names no snippet calls
MOST_FOLDERS = 4  # above a declaration that are looked at for the root of its registry


@dataclass
class Findings:
    """What was found out about a text.

    Args:
        text: The text.
        diagnostics: What is wrong with it.
        warnings: What its author should know.
        values: What is known of places of files, each value once, in the order of the build.
        checked: Costs and weights, where the file is a model that is right.
    """

    text: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    values: dict[tuple[str, Location], list[object]] = field(default_factory=dict)
    checked: ModelCheck | None = None

    def observe(self, document: Document, location: Location, value: object) -> None:
        """Keep what a build says of a place."""
        kept = self.values.setdefault((document.path, location), [])
        described = plain_value(value)
        paths = sum(isinstance(each, str) for each in kept)
        if isinstance(described, str) and paths >= MOST_PATHS:  # a deep model has many of a part
            return
        # Two sizes may be equal for some calls alone, so that values are compared as they look.
        if (
            described is not None
            and len(kept) < MOST_SEEN
            and _look(described) not in map(_look, kept)
        ):
            kept.append(described)

    def seen(self, path: Path, location: Location) -> list[object]:
        """The values of a place."""
        return self.values.get((path.as_posix(), location), [])


def _look(value: object) -> tuple[type, str]:
    return type(value), str(value)


def plain_value(value: object) -> object:
    """What is kept of a value: types of tensors, sizes, paths; None of what says nothing."""
    match value:
        case Tensor():
            return value.value.type
        case Value():
            return value.type
        case TensorType() | SizeRange() | str() | int() | float() | Dim() | dtype():
            return value
        case tuple() | list():
            items = [plain_value(each) for each in value]
            return tuple(items) if all(each is not None for each in items) else None
    return None


def type_text(value: object, variables: Mapping[str, str]) -> str:
    """A value as a spec writes its type: `F[B, 12, S, S]`.

    Args:
        value: What `plain_value` gave.
        variables: The dtypes of type variables by name, of which the first that fits is written.
    """
    match value:
        case TensorType():
            named = (name for name, each in variables.items() if each == str(value.dtype))
            sizes = ", ".join(map(str, value.shape))
            return f"{next(named, str(value.dtype))}[{sizes}]"
        case tuple() if len({*map(str, value)}) == 1 and len(value) > 1:
            return f"{len(value)} x {type_text(value[0], variables)}"
        case tuple():
            return f"({', '.join(type_text(each, variables) for each in value)})"
    return str(value)


def variables_at(document: Document, location: Location) -> dict[str, str]:
    """The dtypes of the type variables that a place of a file sees."""
    found: dict[str, object] = {}
    owner = location[:2] if location[:1] == (DEFINE,) else ()
    for at in ((*owner, "types"), ("types",)):
        types = document.at(at)
        found = {**(types if isinstance(types, dict) else {}), **found}
    named = {**DEFAULT_VARIABLES, **{n: t for n, t in found.items() if isinstance(t, str)}}
    return {str(name): each for name, each in named.items()}


def find(analysis: Analysis, texts: Texts) -> Findings:
    """Everything that is found out about a text; texts of an editor stand for files.

    What is no file of tripybuild's has no findings.
    """
    findings = Findings(analysis.text)
    if analysis.kind is None:
        return findings
    _, problems = analysis.parsed
    if problems:
        findings.diagnostics = first_problems(problems)
        return findings
    try:
        if analysis.is_declaration:
            findings.diagnostics = _check_declaration(analysis, texts)
        elif analysis.kind == DEFINE:
            findings.diagnostics = _check_definitions(analysis)
        elif analysis.kind == WORKSPACE:
            all_builds(read_workspace(analysis.path, overlay({analysis.path: analysis.text})))
        else:
            _check_model(analysis, texts, findings)
    except DiagnosticError as error:
        findings.diagnostics = list(error.diagnostics)
    findings.diagnostics = list(_at_uses(analysis, findings.diagnostics))
    return findings


def overlay(texts: Texts) -> Callable[[Path], tuple[Document | None, list[Diagnostic]]]:
    """The reader of documents that has texts in the place of files."""

    def read(path: Path) -> tuple[Document | None, list[Diagnostic]]:
        text = texts.get(path) or texts.get(path.resolve())
        try:
            content = read_text(path, LARGEST_FILE) if text is None else text
        except DiagnosticError as error:
            return None, list(error.diagnostics)
        return parse(content, path.as_posix())

    return read


def _check_model(analysis: Analysis, texts: Texts, findings: Findings) -> None:
    path = analysis.path
    built = build(
        path,
        homes=model_libraries(None, path),
        reader=overlay({**texts, path: analysis.text}),
        observe=findings.observe,
    )
    findings.warnings = list(built.warnings)
    checked = check_built(built, DEVICE)
    findings.checked = checked
    # A spec without its weights is no mistake while it is written.
    findings.warnings = [each for each in checked.warnings if each.code != ABSENT]


def _check_definitions(analysis: Analysis) -> list[Diagnostic]:
    document, _ = analysis.parsed
    assert document is not None
    file, problems = validate(document, KINDS[DEFINE])
    if file is None:
        return first_problems(problems)
    _, found = elaborate_definitions(document, file)  # type: ignore[arg-type] # of this kind
    return first_problems([*problems, *found])


def _check_declaration(analysis: Analysis, texts: Texts) -> list[Diagnostic]:
    """What is wrong with a file of a registry, read with the families that it refines."""
    path = analysis.path
    root = registry_root(path)
    built_in = paths.registry()
    roots = [root] if root == built_in else [built_in, root]
    files = {shown: each for folder in roots for shown, each in sources(folder).items()}
    own = f"{root_name(root)}/{path.relative_to(root).as_posix()}"
    files[own] = path
    wanted = {own, *(shown for shown in files if Path(shown).name == TARGETS)}
    wanted |= set(_families(analysis.document.data, files, overlay(texts)))
    others = frozenset(_callable_names(files, analysis.text))
    reader = overlay({**texts, path: analysis.text})
    if not path.exists():  # it has a name, but was never saved
        _, found = validate(analysis.document, KINDS[analysis.kind or ""])
        return first_problems(found)
    registry, found = load(roots, FileSubset(wanted, others), reader)
    if not found:
        found = check_snippets(registry, others | registry.operators.keys())
    for name, module in registry.modules.items() if not found else ():
        calls = CallResolver(others, frozenset({name}), BUILT_IN, others)
        found += _module_problems(module, calls)
    return first_problems(each for each in found if each.span is None or _is_of(each.span, path))


def _callable_names(files: Mapping[str, Path], text: str) -> Iterator[str]:
    """What snippets may call: operators and modules by their files, which are not read.

    The capitals of a module are those that the text has.
    """
    words = set(_WORD.findall(text))
    for shown, path in files.items():
        if not _NO_CALLS & {*Path(shown).parts}:
            yield path.stem
            yield from (each for each in words if each != path.stem and each.lower() == path.stem)


def _module_problems(module: ModuleDeclaration, calls: CallResolver) -> Sequence[Diagnostic]:
    """What `gen` would say of a module."""
    try:
        module_fragment(module, calls)
    except DiagnosticError as error:
        return error.diagnostics
    return ()


def _is_of(span: Span, path: Path) -> bool:
    return span.path == path.as_posix()


def _families(
    data: object,
    files: Mapping[str, Path],
    reader: Callable[[Path], tuple[Document | None, list[Diagnostic]]],
) -> Iterator[str]:
    """The files of what a declaration refines, by its words, and of what these refine."""
    waiting, seen = [data], set[str]()
    while waiting:
        here = waiting.pop()
        words = [here.get(key) for key in _FAMILIES] if isinstance(here, dict) else []
        for word in words:
            stem = str(word or "").partition("(")[0].strip().lower()
            for shown in files:
                if stem and Path(shown).stem == stem and shown not in seen:
                    seen.add(shown)
                    document, _ = reader(files[shown])
                    waiting.append(None if document is None else document.data)
                    yield shown


def registry_root(path: Path) -> Path:
    """The root of the registry that a declaration is of.

    It is the built-in one, or the outermost folder near the file that holds declarations alone.
    """
    built_in = paths.registry()
    if path.is_relative_to(built_in):
        return built_in
    root = path.parent
    for folder in list(path.parents)[1:MOST_FOLDERS]:
        if (folder / ".git").exists() or not _holds_declarations(folder):
            break
        root = folder
    return root


def _holds_declarations(folder: Path) -> bool:
    """Whether all YAML files right below a folder, of which some are needed, are declarations."""
    texts = [paths.read_or_none(str(each)) or b"" for each in sorted(folder.glob("*.yaml"))[:20]]
    kinds = [kind_of(dict.fromkeys(_top_keys(each.decode(errors="replace")))) for each in texts]
    return bool(kinds) and not {*kinds} & {None, "model", DEFINE, WORKSPACE}


def _top_keys(text: str) -> Iterable[str]:
    return (line.partition(":")[0] for line in text.splitlines() if line[:1].isalpha())


def _at_uses(analysis: Analysis, found: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Problems of used files are shown where the file uses them, with their own place beside."""
    document, path = analysis.document, analysis.path
    for each in found:
        if each.span is None:
            yield replace(each, span=document.span((analysis.kind or "",), key=True))
        elif _is_of(each.span, path):
            yield each
        else:
            span = _use_span(document, path, each.span)
            related = (Related("the problem is here", each.span), *each.related)
            yield replace(each, span=span, related=related)


def _use_span(document: Document, path: Path, span: Span) -> Span:
    uses = document.at(("use",))
    for name in uses if isinstance(uses, dict) else ():
        used = path.parent / str(name)
        if used.as_posix() == span.path or used.resolve().as_posix() == span.path:
            return document.span(("use", name), key=True)
    return document.span(("use",), key=True)
