"""Hostile snippets, made of the productions that the grammar of snippets has.

They are right as far as a parser sees; what they say is what nobody may say: functions, namespaces
and methods as values, attributes of results, calls of results, writing arguments, endless work.
"""

import ast
import random
from collections.abc import Sequence
from dataclasses import dataclass

from hostile.texts import CANARY
from tripybuild.language.vocabulary import NUMPY
from tripybuild.schema.snippets.vocabularies import ARRAY_ATTRIBUTES, ARRAY_METHODS, REFERENCE

FUNCTIONS = [
    "len", "range", "sum", "max", "min", "sorted", "zip", "any", "all", "prod", "replace", "drop",
    "insert", "broadcast", "ceildiv", "is_int", "int", "float", "abs", "exp", "log", "sqrt",
    "round_to", "convert", "pick", "tensor", "dtype_of", "cast", "reshape", "where", "matmul",
    "run_while", "run_scan", "accumulated", "strided", "resized_places",
]  # fmt: skip
FOREIGN = [
    "open", "eval", "exec", "compile", "getattr", "setattr", "type", "vars", "globals", "print",
    "input", "breakpoint", "object", "super", "str", "bytes", "dict", "map", "filter", "iter",
    "chr", "format", "help", "memoryview", "property", "tp", "shapes", "check", "math", "dtypes",
    "arrays", "control", "op", "cls", "self", "require", "Tensor", "os", "sys", "np", "hlo", "trt",
]  # fmt: skip
SPACES = ["np", "hlo", "trt", "tp", "shapes", "math", "arrays", "check", "dtypes"]
MEMBERS = [
    "load", "save", "lib", "testing", "ctypeslib", "fromfile", "memmap", "loadtxt", "genfromtxt",
    "vectorize", "frompyfunc", "fromfunction", "apply_along_axis", "apply_over_axes", "piecewise",
    "array", "asarray", "frombuffer", "dtype", "ndarray", "ufunc", "errstate", "printoptions",
    "abs", "exp", "add", "sum", "einsum", "pad", "take", "where", "full", "arange", "ones", "tile",
    "module", "io", "ir", "Context", "open", "os", "sys", "reduce", "accumulate", "outer", "at",
    "element_wise", "constant", "reshape", "custom_call", "plugin", "slice", "Value", "network",
    "record", "frame", "partial", "import_module", "pi", "inf",
]  # fmt: skip
METHODS = [
    "tofile", "dump", "dumps", "tobytes", "setflags", "view", "astype", "reshape", "transpose",
    "sum", "max", "mean", "cumsum", "prod", "item", "itemset", "put", "fill", "sort", "resize",
    "byteswap", "newbyteorder", "format", "encode", "join", "count", "index", "append", "extend",
    "pop", "mro", "subclasses", "numpy", "eval", "save", "copy", "get", "update", "items",
]  # fmt: skip
ATTRIBUTES = [
    "data", "base", "ctypes", "flat", "T", "dtype", "shape", "ndim", "size", "real", "imag", "type",
    "fields", "names", "metadata", "str", "char", "descr", "bits", "highest", "lowest", "rank",
    "producer", "value", "location", "operation", "registry", "gi_frame", "f_globals", "func",
    "start", "stop", "step", "result", "strides", "flags", "nbytes", "itemsize", "context", "owner",
    "declaration", "attributes", "inputs", "module", "numpy",
]  # fmt: skip
KEYWORDS = [
    "out", "dtype", "where", "casting", "subok", "signature", "order", "mode", "axis", "key",
    "default", "keepdims", "initial", "like", "optimize", "allow_pickle", "file", "copy", "kind",
    "side", "constant_values", "strict", "start", "reverse",
]  # fmt: skip
STRINGS = [
    "O", "object", "V8", "M8[ns]", "i4,(1000,1000)f8", "S1000000", "kSUM", "edge", "clip", "raise",
    "unsafe", "K", CANARY, f"touch {CANARY}", "ij,jk->ik", "...", "%s", "{0.__class__}", "{}", "",
    "a" * 900, "__class__", "f4", "constant", "reflect", "wrap",
]  # fmt: skip
NUMBERS = ["0", "1", "-1", "2", "3.5", "10**9", "9**9**9", "2**127", "1e308", "100000", "10**12"]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|"]
COMPARED = ["==", "!=", "<", "<=", ">", ">=", "in", "not in"]


@dataclass(frozen=True)
class Words:
    """What a maker takes its words from."""

    functions: Sequence[str]
    foreign: Sequence[str]
    members: Sequence[str]
    methods: Sequence[str]
    attributes: Sequence[str]


WILD = Words(FUNCTIONS, FOREIGN, [f"{s}.{m}" for s in SPACES for m in MEMBERS], METHODS, ATTRIBUTES)
# What the vocabularies have, for snippets that the reader lets through.
MILD = Words(
    [*FUNCTIONS, *sorted(REFERENCE)],
    ["S", "N", "T", "input"],
    [f"np.{name}" for name in sorted(NUMPY)],
    sorted(ARRAY_METHODS),
    sorted(ARRAY_ATTRIBUTES),
)


class Maker:
    """Makes expressions. `names` are what the snippet may read."""

    def __init__(self, pick: random.Random, names: list[str]) -> None:
        self.pick = pick
        self.names = names or ["input"]
        self.words = pick.choice([WILD, MILD])

    def expression(self, depth: int = 3) -> str:
        """An expression that holds at most so many levels of others."""
        if depth <= 0:
            return self.leaf()
        return self.pick.choice(self.PRODUCTIONS)(self, depth - 1)

    def leaf(self) -> str:
        kind = self.pick.random()
        if kind < 0.45:
            return self.pick.choice(self.names)
        if kind < 0.6:
            return self.pick.choice(NUMBERS)
        if kind < 0.7:
            return repr(self.pick.choice(STRINGS))
        if kind < 0.8:
            return self.pick.choice(self.words.functions)
        if kind < 0.9:
            return self.pick.choice(self.words.foreign)
        return self.member(0)

    def member(self, _: int) -> str:
        return self.pick.choice(self.words.members)

    def function(self, depth: int) -> str:
        """What is called: a function, or what should not be one."""
        kind = self.pick.random()
        if kind < 0.35:
            return self.pick.choice(self.words.functions)
        if kind < 0.5:
            return self.member(0)
        if kind < 0.7:
            return f"({self.expression(depth)}).{self.pick.choice(self.words.methods)}"
        if kind < 0.8:
            return self.pick.choice([*self.words.foreign, *self.names])
        return f"({self.expression(depth)})"

    def call(self, depth: int) -> str:
        given = [self.expression(depth - 1) for _ in range(self.pick.randint(0, 3))]
        named = self.pick.sample(KEYWORDS, self.pick.choice([0, 0, 0, 1, 2]))
        given += [f"{name}={self.expression(depth - 1)}" for name in named]
        return f"{self.function(depth - 1)}({', '.join(given)})"

    def attribute(self, depth: int) -> str:
        name = self.pick.choice([*self.words.attributes, *self.words.methods])
        return f"({self.expression(depth)}).{name}"

    def binary(self, depth: int) -> str:
        sign = self.pick.choice(BINARY)
        return f"({self.expression(depth)}) {sign} ({self.expression(depth)})"

    def compared(self, depth: int) -> str:
        sign = self.pick.choice(COMPARED)
        return f"({self.expression(depth)}) {sign} ({self.expression(depth)})"

    def conditional(self, depth: int) -> str:
        a, b, c = (self.expression(depth) for _ in range(3))
        return f"({a} if {b} else {c})"

    def several(self, depth: int) -> str:
        items = ", ".join(self.expression(depth) for _ in range(self.pick.randint(1, 3)))
        return self.pick.choice([f"[{items}]", f"({items},)", f"[*({items},)]"])

    def choice(self, depth: int) -> str:
        return f"{{{self.leaf()}: {self.expression(depth)}}}[{self.leaf()}]"

    def item(self, depth: int) -> str:
        at = self.pick.choice(["0", "-1", "0:", "::2", "..., 0", "None", self.leaf()])
        return f"({self.expression(depth)})[{at}]"

    def comprehension(self, depth: int) -> str:
        name = self.pick.choice(["each", "f", *self.words.foreign, *self.names])
        over = self.pick.choice([self.expression(depth), "range(10**9)", "[len, np]"])
        inner = self.pick.choice([name, f"{name}(1)", self.expression(depth)])
        kind = self.pick.choice(
            ["[{} for {} in {}]", "sum({} for {} in {})", "[{} for {} in {}][0]"]
        )
        return kind.format(inner, name, over)

    PRODUCTIONS = (
        call, call, call, attribute, binary, compared, conditional, several, choice, item,
        comprehension,
    )  # fmt: skip

    def program(self) -> str:
        """A snippet of several lines, some of which hand functions on."""
        lines = []
        for _ in range(self.pick.choice([0, 0, 1, 2])):
            name = self.pick.choice(["f", "g", *self.words.foreign, *self.names])
            target = self.pick.choice([name, name, f"{name}, *rest"])
            lines.append(f"{target} = {self.expression(2)}")
            self.names = [*self.names, name]
        return "\n".join([*lines, f"return {self.expression(3)}" if lines else self.expression(3)])


class _Graft(ast.NodeTransformer):
    def __init__(self, at: int, scion: ast.expr) -> None:
        self.left, self.scion = at, scion

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            self.left -= 1
            if self.left == 0:
                return self.scion
        return self.generic_visit(node)


def read(text: str) -> list[str]:
    """The names that a snippet reads as values."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return []
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    spaces = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    return [node.id for node in names if id(node) not in called | spaces]


def grafted(pick: random.Random, text: str) -> str:
    """A snippet with a hostile expression in the place of one that it has, or around it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return Maker(pick, []).program()
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    maker = Maker(pick, names)
    if pick.random() < 0.2:
        return maker.program()
    places = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    if not places:
        return maker.program()
    old = pick.choice(places)
    written, words = f"({ast.unparse(old)})", maker.words
    around = [
        f"{written}.{pick.choice([*words.methods, *words.attributes])}",
        f"{written}.{pick.choice(words.methods)}({maker.leaf()})",
        f"{pick.choice(words.functions)}({written}, {maker.leaf()})",
        f"[{written}, {maker.leaf()}][{pick.choice('01')}]",
        f"{written}({maker.leaf()})",
        f"{pick.choice(words.members)}({written}, {pick.choice(KEYWORDS)}={maker.leaf()})",
    ]
    made = pick.choice([*around, maker.expression(pick.randint(1, 3))])
    try:
        scion = ast.parse(made, mode="eval").body
        tree = _Graft(pick.randint(1, len(places)), scion).visit(tree)
        return ast.unparse(ast.fix_missing_locations(tree))
    except (SyntaxError, ValueError, RecursionError):
        return made
