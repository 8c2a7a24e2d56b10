"""The body of checks that trace operations and inline functions share, in the declared order:

dtypes and the laws about them; plain names and runs of input shapes; attributes; `requires` with
`infer`
on demand; expressions inside input types; and last the types of the outputs.
"""

import ast
from collections.abc import Iterable

from tripybuild.codegen.arguments import Parameter
from tripybuild.codegen.expressions import document, statement_value
from tripybuild.codegen.layout import SPACE, Doc, Group, bracketed, call, parenthesized
from tripybuild.codegen.rewrite import Rewriter
from tripybuild.codegen.text import Body
from tripybuild.language.names import free
from tripybuild.schema.operator import Attribute, Input, Law, Operator
from tripybuild.schema.scope import shape_names, words
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import (
    ChoicePattern,
    Dimension,
    Pattern,
    TensorPattern,
    TensorsPattern,
    UnionPattern,
    ValuePattern,
    options,
    shape_text,
    tensors,
)

_METHODS = {
    "int": ("integer", "integers"),
    "float": ("real", "numbers"),
    "number": ("number", "numbers"),
    "size": ("size", "sizes"),
    "bool": ("boolean", "booleans"),
    "string": ("string", "strings"),
}


class CheckEmitter:
    """Writes the checks of one operator into a body. The names it leaves bound are those of the snippets."""

    def __init__(
        self,
        operator: Operator,
        parameters: list[Parameter],
        body: Body,
        unused: frozenset[str] = frozenset(),
    ) -> None:
        self.operator = operator
        self.parameters = parameters
        self.body = body
        self.unused = unused
        texts: dict[str, ast.expr] = {word: ast.Constant(word) for word in words(operator)}
        if operator.inline:
            texts |= {i.name: ast.Name(given_name(i.name)) for i in self._switched()}
        self.rewriter = Rewriter(texts, body.imports)
        self.bound: set[str] = set()
        self.inferred: set[str] = set()
        self.open_law = False

    def emit(self, also: Iterable[str] = ()) -> None:
        """Write all checks; `also` are names that what follows reads."""
        self.elements()
        for law in self._dtype_laws():
            self.law(law)
        for input in self.operator.inputs.values():
            if input not in self._switched():
                self.shape(input)
        for input in self._switched():
            self.switched(input)
        self.attributes()
        for law in self.operator.laws.values():
            if law not in self._dtype_laws():
                self.law(law)
        for input in self.operator.inputs.values():
            self.expressions(input)
        outputs = [] if self.operator.inline else self._output_names()
        for name in (*outputs, *also):
            self.infer(name)

    # --- dtypes ---

    def elements(self) -> None:
        """Bind the type variables: tensors first, then attributes that are dtypes, then numbers."""
        for variable, allowed in self.operator.types.items():
            using = [i for i in self.operator.inputs.values() if self._binds(i.pattern, variable)]
            using = [i for i in using if i not in self._switched()]
            if using:
                several = any(self._takes_number(i.pattern) for i in using)
                method = "element_beside_numbers" if several else "element"
                arguments: list[Doc] = [f'"{variable}"', self._dtypes(allowed)]
                arguments += [f"{i.name}={i.name}" for i in using]
                self._assign(variable, [f"check.{method}"], arguments)
        for parameter in self.parameters:
            for option in options(parameter.argument.pattern):
                if isinstance(option, ValuePattern) and option.kind == "dtype":
                    self._dtype_attribute(parameter, option)
        for input in self.operator.inputs.values():
            self._own_dtypes(input)
        for input in self.operator.inputs.values():
            elements = [t.element for t in tensors(input.pattern)]
            if self._takes_number(input.pattern) and elements:
                self._assign(
                    input.name,
                    "check.number_or_tensor",
                    [f'"{input.name}"', input.name, self._element(elements[0])],
                )
            elif input.several:
                self._assign(input.name, "check.tensors", [f'"{input.name}"', input.name])

    def _own_dtypes(self, input: Input) -> None:
        """An input whose dtype no variable binds: `bool[*A]`, `int32[B]`, `bool[*M] | T[*M]`."""
        elements = [t.element for t in tensors(input.pattern)]
        alone = len(elements) == 1 and elements[0] in BY_NAME
        if (alone or len(elements) > 1) and not input.several:
            wanted: list[Doc] = [self._element(element) for element in elements]
            body = self._guarded(input)
            body.add(call("check.dtype_of", [f'"{input.name}"', input.name, *wanted]))

    def _dtype_attribute(self, parameter: Parameter, option: ValuePattern) -> None:
        allowed: tuple[dtype, ...] = tuple(BY_NAME.values())
        variable = option.argument.id if isinstance(option.argument, ast.Name) else None
        if variable is not None and variable in self.operator.types:
            allowed = self.operator.types[variable]
        name = parameter.name
        self._default(parameter)
        value = call("check.dtype", [f'"{name}"', name, *[self._element(str(t)) for t in allowed]])
        binds = variable and variable not in self.bound | self.unused
        target = f"{name} = {variable} = " if binds else f"{name} = "
        if parameter.nullable and not parameter.computed:
            test: list[Doc] = ["None", SPACE, f"if {name} is None", SPACE, "else ", value]
            self.body.add(target, parenthesized(Group(test)))
        else:
            self.body.add(target, value)
        self.bound |= {name, *([variable] if variable else [])}

    def _binds(self, pattern: Pattern, variable: str) -> bool:
        """Whether an input takes part in binding a variable: a union of tensors does not."""
        found = [t.element for t in tensors(pattern)]
        return found == [variable]

    def _takes_number(self, pattern: Pattern) -> bool:
        return any(isinstance(o, ValuePattern) and o.kind == "number" for o in options(pattern))

    def _element(self, name: str) -> Doc:
        if name in BY_NAME:
            self.body.imports.name("tripybuild.types", "dtypes")
            return f"dtypes.{name}"
        return name

    def _dtypes(self, allowed: tuple[dtype, ...]) -> Doc:
        return bracketed("(", [self._element(str(t)) for t in allowed], ")", comma=True)

    def _dtype_laws(self) -> list[Law]:
        known = {*self.operator.types, *BY_NAME}
        return [law for law in self.operator.laws.values() if set(free(law.that.program)) <= known]

    def _switched(self) -> list[Input]:
        """The inputs that can also be a Python value which stays one, such as an index."""
        return [i for i in self.operator.inputs.values() if is_union_with_value(i.pattern)]

    def switched(self, input: Input) -> None:
        """Check an input that may be no tensor: the names that a tensor binds are None then."""
        name = given_name(input.name) if self.operator.inline else input.name
        if name != input.name:
            self.body.imports.name("typing", "Any")
            self.body.add(f"{name}: Any = {input.name}")
        tensor = next(tensors(input.pattern))
        plain = [d.name for d in tensor.shape or () if d.name is not None and self._fresh(d)]
        fresh = [*([tensor.element] if tensor.element in self.operator.types else []), *plain]
        for each in fresh:
            if each not in self.unused:
                self.body.add(f"{each} = None")
        body = self.body
        self.body = body.block(f"if check.is_tensor({name}):")
        if tensor.element in self.operator.types:
            allowed = self._dtypes(self.operator.types[tensor.element])
            self._assign(
                tensor.element,
                "check.element",
                [f'"{tensor.element}"', allowed, f"{input.name}={name}"],
            )
        if tensor.shape:
            targets = self._targets(
                tensor.shape, [n if n in plain else None for n in (d.name for d in tensor.shape)]
            )
            self.body.add(
                targets,
                call("check.shape", [f'"{input.name}"', name, f'"{shape_text(tensor.shape)}"']),
            )
        self.bound.update(fresh)
        value = next(o for o in options(input.pattern) if isinstance(o, ValuePattern))
        self.body = body
        self.body.block("else:").add(f"{name} = ", self._value(input.name, value, name))

    # --- shapes ---

    def shape(self, input: Input) -> None:
        """Bind the plain names of an input's shape, and match those that are bound already."""
        pattern = next(tensors(input.pattern), None)
        if pattern is None or pattern.shape is None:
            return
        if input.several:
            self._several_shapes(input, pattern)
            return
        fresh = [d.name if self._fresh(d) else None for d in pattern.shape]
        fresh = [None if name in self.unused else name for name in fresh]
        body = self._guarded(input, [name for name in fresh if name])
        if pattern.shape:
            targets = self._targets(pattern.shape, fresh)
            text = shape_text(pattern.shape)
            body.add(targets, call("check.shape", [f'"{input.name}"', input.name, f'"{text}"']))
        known = [d for d in pattern.shape if d.name is not None or not d.star]
        self.bound.update(name for name in fresh if name)
        later = {*self.operator.infer, *self.operator.attributes}
        plain = all(d.name is not None and d.name not in later for d in pattern.shape)
        repeated = len(set(shape_names(pattern))) < len(known) or None in fresh
        if plain and (repeated or not pattern.shape):
            self._match(body, input, pattern)

    def _several_shapes(self, input: Input, pattern: TensorPattern) -> None:
        name = pattern.shape[0].name if pattern.shape and len(pattern.shape) == 1 else None
        if name is not None and name not in self.bound and name not in self.unused:
            self.body.add(f"{name} = [list(tensor.type.shape) for tensor in {input.name}]")
            self.bound.add(name)

    def _fresh(self, dimension: Dimension) -> bool:
        name = dimension.name
        return (
            name is not None
            and name not in self.bound
            and name not in self.operator.infer
            and name not in self.operator.attributes
        )

    def _targets(self, shape: tuple[Dimension, ...], fresh: list[str | None]) -> str:
        if len(shape) == 1 and shape[0].star:
            return f"{fresh[0]} = " if fresh[0] else ""
        names = [
            ("*" if d.star else "") + (name or "_") for d, name in zip(shape, fresh, strict=True)
        ]
        if all(name is None for name in fresh):
            return ""
        return f"({names[0]},) = " if len(names) == 1 else f"{', '.join(names)} = "

    def expressions(self, input: Input) -> None:
        """Match the shapes that hold expressions, now that the laws have been asked."""
        pattern = next(tensors(input.pattern), None)
        if pattern is None or pattern.shape is None or input.several:
            return
        if any(
            d.name is None or d.name in {*self.operator.infer, *self.operator.attributes}
            for d in pattern.shape
        ):
            for dimension in pattern.shape:
                for name in free(dimension.expression):
                    self.infer(name)
            self._match(self._guarded(input), input, pattern)

    def _match(self, body: Body, input: Input, pattern: TensorPattern) -> None:
        assert pattern.shape is not None
        text = shape_text(pattern.shape)
        sizes = self.sizes(pattern.shape)
        body.add(call("check.match", [f'"{input.name}"', input.name, f'"{text}"', sizes]))

    def sizes(self, shape: tuple[Dimension, ...]) -> Doc:
        """A shape as a tuple."""
        items: list[Doc] = [
            ["*" if d.star else "", document(self.rewriter.rewrite(d.expression))] for d in shape
        ]
        return bracketed("(", items, ")", comma=True)

    def _guarded(self, input: Input, binds: Iterable[str] = ()) -> Body:
        """Where the checks of an input go: behind `if` where it may be left out."""
        if not input.optional:
            return self.body
        for name in binds:
            self.body.add(f"{name} = None")
        return self.body.block(f"if {input.name} is not None:")

    # --- attributes ---

    def attributes(self) -> None:
        """Normalise the attributes in their declared order."""
        by_name = {parameter.name: parameter for parameter in self.parameters}
        for attribute in self.operator.attributes.values():
            if attribute.name not in self.bound:
                self.attribute(by_name[attribute.name], attribute)

    def attribute(self, parameter: Parameter, attribute: Attribute) -> None:
        """Normalise one attribute."""
        self._default(parameter)
        name = attribute.name
        forms = options(attribute.pattern)
        value = self._normalised(name, forms)
        if value is not None:
            if parameter.nullable and not parameter.computed:
                value = parenthesized(
                    Group(["None", SPACE, f"if {name} is None", SPACE, "else ", value])
                )
            self.body.add(f"{name} = ", value)
        self.bound.add(name)

    def _default(self, parameter: Parameter) -> None:
        if parameter.computed and isinstance(parameter.argument, Attribute):
            default = parameter.argument.default
            assert default is not None
            for name in free(default.program):
                self.infer(name)
            block = self.body.block(f"if {parameter.name} is None:")
            block.add(
                f"{parameter.name} = ", statement_value(self.rewriter.rewrite(default.result))
            )

    def _normalised(self, name: str, forms: tuple[Pattern, ...]) -> Doc | None:
        if len(forms) > 1 and all(isinstance(f, ValuePattern) for f in forms):
            return self._either(name, forms)
        match forms[0]:
            case ChoicePattern(options=words_):
                return call("check.choice", [f'"{name}"', name, *[f'"{w}"' for w in words_]])
            case ValuePattern() as value:
                return self._value(name, value)
        return None

    def _either(self, name: str, forms: tuple[Pattern, ...]) -> Doc:
        """`int | size[...]`, `number | size`: the form follows what is given."""
        one = [f for f in forms if isinstance(f, ValuePattern) and f.lengths is None]
        many = [f for f in forms if isinstance(f, ValuePattern) and f.lengths is not None]
        if one and many:
            single, several = self._value(name, one[0]), self._value(name, many[0])
            test = f"if isinstance({name}, (list, tuple))"
            return parenthesized(Group([several, SPACE, test, SPACE, "else ", single]))
        kinds = {f.kind for f in one}
        method = "number_or_size" if "size" in kinds else "number"
        return call(f"check.{method}", [f'"{name}"', name])

    def _value(self, name: str, pattern: ValuePattern, variable: str | None = None) -> Doc:
        start: list[Doc] = [f'"{name}"', variable or name]
        if pattern.kind == "axis":
            assert pattern.argument is not None
            method = "axis" if pattern.lengths is None else "axes"
            return call(f"check.{method}", [*start, self._rank(pattern.argument)])
        if pattern.kind == "index":
            assert isinstance(pattern.argument, ast.Name)
            return call("check.index", [*start, self._shape_of(pattern.argument.id)])
        one, many = _METHODS.get(pattern.kind, ("number", "numbers"))
        if pattern.lengths is None:
            return call(f"check.{one}", start)
        lengths: list[Doc] = [document(self.rewriter.rewrite(length)) for length in pattern.lengths]
        for length in pattern.lengths:
            for used in free(length):
                self.infer(used)
        return call(f"check.{many}", [*start, *lengths])

    def _shape_of(self, name: str) -> str:
        """The shape of an input: the name that holds all of it, if there is one."""
        pattern = next(tensors(self.operator.inputs[name].pattern))
        if pattern.shape is not None and len(pattern.shape) == 1 and pattern.shape[0].star:
            return str(pattern.shape[0].name)
        return f"{name}.type.shape"

    def _rank(self, argument: ast.expr) -> Doc:
        """`axis(input)` counts the dimensions of an input; `axis(expression)` says the rank itself."""
        if isinstance(argument, ast.Name) and argument.id in self.operator.inputs:
            pattern = next(tensors(self.operator.inputs[argument.id].pattern))
            if pattern.shape is not None and len(pattern.shape) == 1 and pattern.shape[0].star:
                return f"len({pattern.shape[0].name})"
            return f"{argument.id}.type.rank"
        for name in free(argument):
            self.infer(name)
        return document(self.rewriter.rewrite(argument))

    # --- laws and inference ---

    def law(self, law: Law) -> None:
        """One law, with the names that it infers first."""
        names = list(dict.fromkeys(free(law.that.program)))
        for name in names:
            self.infer(name)
        if law.message is not None:
            for name in self._message_names(law.message):
                self.infer(name)
                names.append(name)
        shown = [n for n in dict.fromkeys(names) if n in self._values()]
        arguments: list[Doc] = [f'"{law.name}"', *[f"{name}={name}" for name in shown]]
        block = self.body.block("with ", call("check.law", arguments), " as require:")
        for step in law.that.program.assignments:
            block.add(
                f"{', '.join(step.targets)} = ", statement_value(self.rewriter.rewrite(step.value))
            )
        block.add(call("require", [document(self.rewriter.rewrite(law.that.result))]))

    def _message_names(self, message: str) -> list[str]:
        found = []
        for part in message.split("{")[1:]:
            tree = ast.parse(part.partition("}")[0], mode="eval").body
            found += [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
        return [name for name in found if name in self._values() or name in self.operator.infer]

    def _values(self) -> set[str]:
        return {*self.bound, *self.operator.attributes, *self.operator.inputs, *self.operator.infer}

    def infer(self, name: str) -> None:
        """Compute a name of `infer`, once, after the names that it needs."""
        snippet = self.operator.infer.get(name)
        if snippet is None or name in self.inferred:
            return
        self.inferred.add(name)
        for used in free(snippet.program):
            self.infer(used)
        for step in snippet.program.assignments:
            self.body.add(
                f"{', '.join(step.targets)} = ", statement_value(self.rewriter.rewrite(step.value))
            )
        self.body.add(f"{name} = ", statement_value(self.rewriter.rewrite(snippet.result)))
        self.bound.add(name)

    def _output_names(self) -> list[str]:
        names: list[str] = []
        for output in self.operator.outputs.values():
            for tensor in tensors(output.pattern):
                names.append(tensor.element)
                for dimension in tensor.shape or ():
                    names += free(dimension.expression)
        return names

    def output_types(self) -> list[Doc]:
        """The types of the outputs, as arguments of `gives`."""
        self.body.imports.name("tripybuild.trace", "TensorType")
        result: list[Doc] = []
        for output in self.operator.outputs.values():
            pattern = output.pattern
            if isinstance(pattern, TensorPattern) and pattern.shape is not None:
                result.append(
                    call("TensorType", [self._element(pattern.element), self.sizes(pattern.shape)])
                )
            elif isinstance(pattern, TensorsPattern) and pattern.each.shape is not None:
                runs = document(pattern.each.shape[0].expression)
                element = self._element(pattern.each.element)
                result.append(["*[TensorType(", element, ", tuple(each)) for each in ", runs, "]"])
            else:
                raise NotImplementedError(f"an output of type {pattern}")
        return result

    def _assign(self, target: str, function: Doc, arguments: list[Doc]) -> None:
        self.body.add("" if target in self.unused else f"{target} = ", call(function, arguments))
        if target not in self.operator.inputs:
            self.bound.add(target)


def given_name(name: str) -> str:
    """What an inline function calls an argument that is a tensor or an index: its type says neither."""
    return f"given_{name}"


def is_union_with_value(pattern: Pattern) -> bool:
    """Whether an input can also be a Python value that is no number, such as an index."""
    return isinstance(pattern, UnionPattern) and any(
        isinstance(o, ValuePattern) and o.kind != "number" for o in pattern.options
    )
