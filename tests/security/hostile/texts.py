"""Texts that would do something if anybody took them for code, names, formats or paths."""

import random

CANARY = "CANARY"  # becomes a path that nobody has a reason to touch

CODE = [
    f"__import__('os').system('touch {CANARY}')",
    f"open('{CANARY}', 'w')",
    f"exec(\"open('{CANARY}', 'w')\")",
    f'eval(\'open("{CANARY}", "w")\')',
    f"__import__('pathlib').Path('{CANARY}').touch()",
    f"().__class__.__base__.__subclasses__()[0].__init__.__globals__['open']('{CANARY}', 'w')",
    f"np.save('{CANARY}', input)",
    f"np.load('{CANARY}', allow_pickle=True)",
    f"input.tofile('{CANARY}')",
    f"hlo.module.io.open('{CANARY}', 'w')",
    "__builtins__",
    "globals()",
    "lambda: 0",
]
# What closes the text around a code, and opens one behind it.
AROUND = [
    ("", ""),
    ('" + str(', ') + "'),
    ("' + str(", ") + '"),
    ('""" + str(', ') + """'),
    ("''' + str(", ") + '''"),
    ('\\" + str(', ') + \\"'),
    ('"]\n', '\n["'),
    ('")\n', '\n("'),
    ("\n", "\n"),
    ("\r", "\r"),
    ("\n    ", "\n    "),
    ("\f", "\f"),
    ("\u2028", "\u2028"),
    ("\x85", "\x85"),
    ("\x0b", "\x0b"),
    ("\x1c", "\x1c"),
    ("{", "}"),
    ("{{", "}}"),
    ("{x!r:{", "}}"),
    ("`", "`"),
    ("; ", "; "),
    (", ", ", "),
    (")\n", "\n("),
    ("# \n", "\n#"),
    (" -->\n", "\n<!-- "),
    ("if True: ", ""),
    ("[", "]"),
    ("(", ")"),
    (" or ", " or "),
    ("x := ", ""),
    ("\\\n", "\\\n"),
]
ODD = [
    "",
    " ",
    "\\",
    "\\\\",
    '"',
    "'",
    '"""',
    "'''",
    '\\"""',
    "a\\",
    'ends in a quote"',
    'ends in quotes"""',
    "\\N{LATIN SMALL LETTER A}",
    "\\N{",
    "\\x",
    "\\u12",
    "{",
    "}",
    "{}",
    "{0}",
    "{{x}}",
    "{x!r:>9}",
    "{x.__class__}",
    "{input.__class__.__init__.__globals__}",
    "{N.real}",
    "{T}",
    "{self}",
    "%s%n%(x)s",
    "${HOME}",
    "$(touch CANARY)",
    "`touch CANARY`",
    "\x00",
    "\x07",
    "\u202e",
    "\ufeff",
    "\u2029",
    "\uff4f\uff50\uff45\uff4e",
    "\ud800",
    "\xe9",
    "a\tb",
    "x" * 2000,
    "(" * 100,
    "[" * 70 + "]" * 70,
    "9" * 400,
    "1e400",
    "0x" + "f" * 60,
    "...",
    "*",
    "**x",
    "*x",
    "@x",
    "-> x",
    "x: int",
    "x = 1",
    "return",
    "import os",
    "from os import system",
    "pass\nimport os",
    "True",
    "None",
    "~",
    "null",
    "1",
    "-1",
    "1.5",
]
NAMES = [
    "class", "import", "lambda", "none", "None", "True", "print", "exec", "eval", "open", "type",
    "object", "super", "self", "cls", "op", "check", "require", "tp", "np", "hlo", "trt", "shapes",
    "math", "dtypes", "Tensor", "Value", "Any", "Self", "record", "begin", "Declaration", "Law",
    "TensorType", "TraceOp", "dataclass", "Check", "Module", "DECLARATION", "SUITE", "TYPES",
    "pytest", "arrays", "control", "draws", "sampling", "Array", "Sequence", "int", "str", "list",
    "len", "range", "zip", "map", "__init__", "__class__", "__builtins__", "__import__", "__call__",
    "_x", "x__y", "mro", "declaration", "infer", "gives", "inputs", "outputs", "operator", "name",
    "location", "forward", "parameters", "training", "config", "types", "ops", "trace", "lowering",
    "references", "decompositions", "modules", "suites", "docs", "tripyapi", "tripybuild", "os",
    "sys", "builtins", "match", "case", "async", "await", "x y", "x-y", "x.y", "x/y", "../x", "..",
    ".", "/etc/x", "x\ny", 'x"y', "x'y", "x,y", "x=1", "x:int", "*x", "**x", "x)", "(x", "#x",
    "\xe9", "\ufb01", "\xaa", "x" * 100, "", "1x", "CON", "con", "__pycache__", "__main__",
    "conftest", "test_x", "%s", "{x}", "$x", "~", "-x", "x\u2028y", "x\x00y",
]  # fmt: skip


def text(pick: random.Random) -> str:
    """A hostile text."""
    kind = pick.random()
    if kind < 0.5:
        before, after = pick.choice(AROUND)
        return before + pick.choice(CODE) + after
    if kind < 0.6:
        before, after = pick.choice(AROUND)
        return before + pick.choice(ODD) + after
    return pick.choice(ODD if kind < 0.85 else NAMES)


def name(pick: random.Random) -> str:
    """A hostile name."""
    return pick.choice(NAMES) if pick.random() < 0.8 else text(pick)


def spliced(pick: random.Random, into: str) -> str:
    """A text with a hostile one in it: before, behind, within, or in its place."""
    hostile = text(pick)
    at = pick.choice([0, len(into), pick.randint(0, len(into))])
    return hostile if pick.random() < 0.4 else into[:at] + hostile + into[at:]
