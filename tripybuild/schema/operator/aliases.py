"""Aliases: an operator's equivalents in other systems, with a value for each foreign argument.

`aten: add.Tensor` stands for a call with the same arguments in the same order. In
`aten: "softmax.int(input, dim)"` each argument is an expression over what the operator binds.
Invariant: read back, from a plain name or from `reads:`, every argument is there again.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.language.grammar import Program, SnippetError, parse, parse_expression
from tripybuild.language.names import free_names
from tripybuild.language.program import source_text
from tripybuild.language.syntax import position
from tripybuild.schema.entries import ForeignEntry
from tripybuild.schema.foreign import TITLES, Expansion, ForeignSignature, inversions, signatures
from tripybuild.schema.operator.operator import Alias, Difference, Input, Location, Snippet
from tripybuild.schema.snippets.expressions import Expression, expression_text
from tripybuild.schema.snippets.vocabularies import DECOMPOSE, DTYPES, SHAPE
from tripybuild.types.patterns import subscript_text, tensors

_SEVERAL = "any number of tensors: write `*` before a list of them"


class AliasReader:
    """Reads the aliases of one operator; `found` is all that is wrong with them.

    Args:
        document: The operator's file.
        arguments: The names of the operator's arguments, in the order of a call.
        infer: What the operator computes of them, by name.
        inputs: The operator's inputs, whose shapes bind names.
    """

    def __init__(
        self,
        document: Document,
        arguments: Sequence[str],
        infer: Mapping[str, Snippet],
        inputs: Mapping[str, Input],
    ) -> None:
        self.document, self.own, self.infer, self.inputs = document, arguments, infer, inputs
        self.found: list[Diagnostic] = []

    def read(
        self, system: str, given: str | ForeignEntry | list[str | ForeignEntry] | None
    ) -> Iterator[Alias]:
        """The aliases of one system."""
        entries = given if isinstance(given, list) else [] if given is None else [given]
        for at, entry in enumerate(entries):
            base: Location = ("aliases", system, *([at] if isinstance(given, list) else []))
            whole = isinstance(entry, ForeignEntry)
            form = entry if isinstance(entry, ForeignEntry) else ForeignEntry(call=entry)
            if form.opset is not None and system != "onnx":
                self._wrong("alias-argument", f"{TITLES[system]} has no opsets", (*base, "opset"))
            alias = self._alias(system, form, base, (*base, "call") if whole else base)
            if alias is not None:
                self._check_call(alias, base)
                self._check_inverse(alias, base)
                yield alias

    def _alias(
        self, system: str, entry: ForeignEntry, base: Location, where: Location
    ) -> Alias | None:
        signature = self._signature(system, entry.call.partition("(")[0].strip(), where)
        if signature is None:
            return None
        try:
            call, result = self._call(entry.call, signature)
            given = _arguments(signature, call)
            expansion = Expansion()
            said = {n: expansion.expand(each) for n, each in given.items()}
            back = dict(self._back(said, given))
        except SnippetError as error:
            self._report_syntax(error, where)
            return None

        def here(node: ast.expr) -> Snippet:
            ast.fix_missing_locations(ast.copy_location(node, call))
            return Snippet(Program((), node), self.document, where)

        when, reads_when = (
            None if condition is True else self._snippet(condition, (*base, key))
            for key, condition in (("when", entry.when), ("reads_when", entry.reads_when))
        )
        reads = {n: self._snippet(e, (*base, "reads", n)) for n, e in entry.reads.items()}
        helped = {name for name, each in given.items() if said[name] is not each}
        text = _text(signature, call, said, result) if helped else entry.call
        return Alias(
            system,
            signature,
            text,
            {n: Snippet(Program((), e, text), self.document, where) for n, e in said.items()},
            result,
            _join_conditions(when, [here(node) for node in expansion.when]),
            {**{name: here(node) for name, node in back.items()}, **reads},
            self._differences(entry, base),
            entry.opset,
            reads_when,
            frozenset(entry.ignores),
            frozenset(helped.union(*(free_names(each.program) for each in reads.values()))),
        )

    def _signature(self, system: str, name: str, where: Location) -> ForeignSignature | None:
        signature = signatures(system).get(name)
        if signature is None:
            near = suggest(name, signatures(system))
            hint = f"did you mean `{near}`?" if near else None
            self._wrong("unknown-alias", f"{TITLES[system]} has no `{name}`", where, hint)
        return signature

    def _differences(self, entry: ForeignEntry, base: Location) -> dict[str, Difference]:
        return {
            name: Difference(self._snippet(each.when, (*base, "differs", name, "when")), each.why)
            for name, each in entry.differs.items()
        }

    def _back(
        self, said: Mapping[str, ast.expr], given: Mapping[str, ast.expr]
    ) -> Iterator[tuple[str, ast.expr]]:
        """What is read back of arguments that are no plain names."""
        if all(isinstance(each, ast.Name | ast.Constant) for each in given.values()):
            return
        known: dict[str, ast.expr] = {}
        calls = any(isinstance(each, ast.Call) for each in given.values())
        for parameter, each in said.items():
            if calls and isinstance(each, ast.Name):
                known[each.id] = ast.Name(parameter, ast.Load())
                known |= dict(_sizes(self.inputs.get(each.id), parameter))
        for parameter, each in given.items():
            yield from inversions(each, ast.Name(parameter, ast.Load()), known)

    def _call(self, text: str, signature: ForeignSignature) -> tuple[ast.Call, int | None]:
        """The call, and which of its results is taken; a name alone takes what we take."""
        if "(" in text:
            return parse_foreign_call(text, signature.name)
        star = "*" if signature.several == next(iter(signature.by_position), None) else ""
        return parse_foreign_call(f"{text}({star}{', '.join(self.own)})", signature.name)

    def _check_call(self, alias: Alias, base: Location) -> None:
        """Each of our arguments is in the other's call, or in the condition under which it is."""
        said = self._dependencies({n for s in alias.snippets() for n in free_names(s.program)})
        for name in self.own:
            if name not in said:
                hint = "give it to the call, or fix its value in `when:`"
                self._wrong("alias-argument", f"`{alias.text}` leaves out `{name}`", base, hint)

    def _dependencies(self, names: set[str]) -> set[str]:
        """Names with all that they are computed of."""
        found: set[str] = set()
        while names:
            found |= names
            computed = (self.infer[name] for name in names if name in self.infer)
            names = {n for snippet in computed for n in free_names(snippet.program)} - found
        return found

    def _check_inverse(self, alias: Alias, base: Location) -> None:
        """Each of our arguments comes back from the other's."""
        given = {
            name for snippet in alias.arguments.values() for name in free_names(snippet.program)
        }
        back = {*alias.plain.values(), *alias.reads}
        for name in self.own:
            if name in given and name not in back:
                message = f"`{name}` cannot be read back from `{alias.text}`"
                hint = f"write under `reads: {name}:` how it follows from `{alias.signature}`"
                self._wrong("alias-argument", message, base, hint)
        for name in alias.reads:
            if name not in self.own:
                place = (*base, "reads", name)
                self._wrong("alias-argument", f"there is no argument `{name}`", place)
        known = {*alias.signature.parameters, *SHAPE, *DTYPES, *DECOMPOSE}
        wanted: list[tuple[Location, tuple[str, ...]]] = [
            ((*base, "reads", n), free_names(s.program)) for n, s in alias.reads.items()
        ]
        wanted.append(((*base, "ignores"), tuple(alias.ignores)))
        if alias.reads_when is not None:
            wanted.append(((*base, "reads_when"), free_names(alias.reads_when.program)))
        for place, names in wanted:
            for used in names:
                if used not in known:
                    message = f"`{alias.signature.name}` has no argument `{used}`"
                    self._wrong("alias-argument", message, place, f"it is `{alias.signature}`")

    def _snippet(self, value: Expression, where: Location) -> Snippet:
        try:
            program = parse(expression_text(value))
        except SnippetError as error:
            self._report_syntax(error, where)
            program = Program((), ast.Constant(None), "None")
        return Snippet(program, self.document, where)

    def _report_syntax(self, error: SnippetError, where: Location) -> None:
        place = (error.line, error.column, error.end_line, error.end_column)
        span = self.document.snippet_span(where, *place)
        self.found.append(Diagnostic(error.code, error.message, span, hint=error.hint))

    def _wrong(self, code: str, message: str, where: Location, hint: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, self.document.span(where), hint=hint))


def _sizes(input: Input | None, parameter: str) -> Iterator[tuple[str, ast.expr]]:
    """The names of a shape as parts of it: `S` is `data.shape`, and `D` is `data.shape[2:]`."""
    pattern = None if input is None or input.several else next(tensors(input.pattern), None)
    shape = (pattern.shape if pattern is not None else None) or ()
    whole = ast.Attribute(ast.Name(parameter, ast.Load()), "shape", ast.Load())
    for index, dimension in enumerate(shape):
        if dimension.name is not None and dimension.star and len(shape) == 1:
            yield dimension.name, whole
        elif dimension.name is not None:
            part = parse_expression(f"shape{subscript_text(shape, index)}")
            assert isinstance(part, ast.Subscript)
            yield dimension.name, ast.Subscript(whole, part.slice, ast.Load())


def _join_conditions(when: Snippet | None, helpers: Sequence[Snippet]) -> Snippet | None:
    """What an alias says of the calls that it can say, and then what its helpers do."""
    parts = [*([when] if when is not None else []), *helpers]
    if len(parts) < 2:
        return parts[0] if parts else None
    first, *_ = parts
    node = ast.BoolOp(ast.And(), [each for part in parts for each in _conjuncts(part.result)])
    ast.copy_location(node, first.result)
    return replace(first, program=Program((), node))


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    return node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]


def _text(
    signature: ForeignSignature, call: ast.Call, said: Mapping[str, ast.expr], result: int | None
) -> str:
    """The call as it is with what its helpers say."""
    words = [
        ("*" if parameter == signature.several else "") + source_text(said[parameter])
        for parameter in signature.by_position[: len(call.args)]
    ]
    words += [f"{word.arg}={source_text(said[word.arg])}" for word in call.keywords if word.arg]
    return f"{signature.name}({', '.join(words)})" + ("" if result is None else f"[{result}]")


def parse_foreign_call(text: str, name: str) -> tuple[ast.Call, int | None]:
    """The call in `name(...)` or `name(...)[0]`, and which of the results is taken.

    Raises:
        SnippetError: It is no call of this operator.
    """
    # The name, which may begin with `_` or hold a dot, is not the language's.
    stand_in = "f" * len(name)
    expression = parse_expression(text.replace(name, stand_in, 1))
    result = None
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        result, expression = expression.slice.value, expression.value
    called = expression.func if isinstance(expression, ast.Call) else None
    is_named = isinstance(called, ast.Name) and called.id == stand_in
    if not isinstance(expression, ast.Call) or not is_named or not isinstance(result, int | None):
        place = (1, 0, expression.end_lineno or 1, expression.end_col_offset or 1)
        hint = f"write `{name}(...)`"
        raise SnippetError(f"this is no call of `{name}`", place, hint=hint)
    return expression, result


def _arguments(signature: ForeignSignature, call: ast.Call) -> dict[str, ast.expr]:
    """The expressions by parameter, in the other's order."""
    name, count = signature.name, len(signature.by_position)
    if len(call.args) > count:
        many = f"{count} positional argument{'' if count == 1 else 's'}, not {len(call.args)}"
        raise _argument_error(f"`{name}` takes {many}: pass the others by keyword", signature, call)
    given: dict[str, ast.expr] = {}
    for parameter, value in zip(signature.by_position, call.args, strict=False):
        if (parameter == signature.several) != isinstance(value, ast.Starred):
            wanted = _SEVERAL if parameter == signature.several else "one value"
            raise _argument_error(f"`{parameter}` takes {wanted}", signature, value)
        given[parameter] = value.value if isinstance(value, ast.Starred) else value
    for keyword in call.keywords:
        parameter = keyword.arg or ""
        if parameter not in signature.parameters:
            raise _argument_error(
                f"`{name}` has no argument `{parameter}`", signature, keyword.value
            )
        if parameter in given:
            raise _argument_error(f"`{parameter}` is specified twice", signature, keyword.value)
        given[parameter] = keyword.value
    needed = (
        parameter for parameter in signature.parameters if parameter not in signature.optional
    )
    if missing := [f"`{parameter}`" for parameter in needed if parameter not in given]:
        raise _argument_error(f"`{name}` needs {', '.join(missing)}", signature, call)
    return {parameter: given[parameter] for parameter in signature.parameters if parameter in given}


def _argument_error(message: str, signature: ForeignSignature, node: ast.expr) -> SnippetError:
    hint = f"it is `{signature}`"
    return SnippetError(message, position(node), code="alias-argument", hint=hint)
