"""Attacks that are known, in all the ways in which the grammar can say them.

A function is handed on as a value, an array or a namespace is read by another name, a text leaves
its quotes, a name becomes code.
"""

import ast
import random
import re
from collections.abc import Sequence

from hostile.texts import AROUND, CANARY, CODE

FUNCTIONS = [
    ("np", "save", f"'{CANARY}', input"),
    ("np", "load", f"'{CANARY}', allow_pickle=True"),
    ("np", "fromfile", f"'{CANARY}'"),
    ("np", "memmap", f"'{CANARY}', mode='w+', shape=(1,)"),
    ("np", "loadtxt", f"'{CANARY}'"),
    ("np", "vectorize", f"np.save)('{CANARY}', input"),
    ("np", "apply_along_axis", f"np.save, 0, input, '{CANARY}'"),
    ("np", "fromfunction", f"np.load, ('{CANARY}',)"),
    ("np", "lib.format.open_memmap", f"'{CANARY}', mode='w+', shape=(1,)"),
    ("np", "lib.npyio.os.system", f"'touch {CANARY}'"),
    ("np", "ctypeslib.load_library", f"'{CANARY}', '/'"),
    ("hlo", "module.io.open", f"'{CANARY}', 'w'"),
    ("hlo", "module.os.mkdir", f"'{CANARY}'"),
    ("hlo", "np.save", f"'{CANARY}', [1]"),
    ("trt", "network.np.save", f"'{CANARY}', [1]"),
    ("trt", "math.os.mkdir", f"'{CANARY}'"),
    ("shapes", "math.os.mkdir", f"'{CANARY}'"),
    ("tp", "import_module", "'ctypes'"),
    ("check", "save", f"'{CANARY}'"),
    ("arrays", "np.save", f"'{CANARY}', input"),
]
NEAR = {"reference": "np", "stablehlo": "hlo", "tensorrt": "trt"}  # what a snippet can reach
WAYS = [
    "{f}({a})",
    "g = {f}\nreturn g({a})",
    "[{f}][0]({a})",
    "({f},)[0]({a})",
    "[*({f},)][-1]({a})",
    "{{1: {f}}}[1]({a})",
    "({f} if True else len)({a})",
    "({f} or len)({a})",
    "(None or {f})({a})",
    "[g({a}) for g in [{f}]][0]",
    "[g for g in ({f},)][0]({a})",
    "{{g: 1 for g in [{f}({a})]}}",
    "g, *rest = [{f}, len]\nreturn g({a})",
    "*rest, g = [len, {f}]\nreturn g({a})",
    "n = {s}\nreturn n.{m}({a})",
    "[{s}][0].{m}({a})",
    "({s} if True else 1).{m}({a})",
    "[n.{m}({a}) for n in [{s}]][0]",
    "np = {s}\nreturn np.{m}({a})",
    "len = {f}\nreturn len({a})",
    "max([{f}], key=len)({a})",
    "sorted(['{c}'], key={f})",
    "any({f}({a}) for i in [1])",
    "y = {f}({a})\nreturn input",
    "input + {f}({a})",
    "np.pad(input, 1, mode={f})",
    "np.where({f}, input, input)",
    "list(zip([{f}], [1]))[0][0]({a})",
    "list(enumerate([{f}]))[0][1]({a})",
    "run_while({f}, {f}, [input])",
    "convert(input, {f})",
]
ARRAYS = [
    "input",
    "input.T",
    "input[0:]",
    "np.abs(input)",
    "[input][0]",
    "(input + 1)",
    "(-input)",
    "input.reshape([-1])",
    "convert(input, T)",
    "(input if True else input)",
    "input.astype('f4')",
    "{1: input}[1]",
    "[a for a in [input]][0]",
    "np.stack([input, input])",
    "input.sum()",
]
METHODS = [
    f"tofile('{CANARY}')",
    f"dump('{CANARY}')",
    f"T.tofile('{CANARY}')",
    f"data.obj.dump('{CANARY}')",
    f"base.tofile('{CANARY}')",
    f"view().tofile('{CANARY}')",
    "ctypes.data_as(len)",
    "setflags(1)",
    f"real.tofile('{CANARY}')",
    f"flat.base.tofile('{CANARY}')",
    "shape.count(1)",
    "dumps()",
    f"sum(out={CANARY!r})",
    "fill(0)",
    "sort()",
    "resize([1])",
    "put([0], [1])",
    "itemset(0, 1)",
]
WRITES = [
    "input.cumsum(0, None, input)",
    "input.sum(0, None, input)",
    "input.mean(0, None, input)",
    "np.add(input, input, out=input)",
    "np.abs(input, input)",
    "np.add(input, 1, input)",
    "np.multiply(input, 2, *[input])",
    "input.sum(None, None, input)",
    "np.clip(input, 0, 1, input)",
    "np.sum(input, None, None, input)",
    "np.cumsum(input, 0, None, input)",
    "np.exp(input, *(input,))",
    "np.take(input, [0], 0, input)",
    "np.concatenate([input, input], 0, input)",
    "np.round(input, 0, input)",
]
ENDLESS = [
    "9 ** 9 ** 9 ** 9",
    "len([i for i in range(10**10)])",
    "sum(1 for i in range(10**10))",
    "len(range(10**10) * 2)",
    "[0] * 10**11",
    "'a' * 10**11",
    "prod([2] * 10**9)",
    "(2 ** 120) ** (2 ** 60)",
    "all(i >= 0 for i in range(10**10))",
    "max(i for i in range(10**10))",
    "sorted(range(10**10))",
    "np.zeros([10**5] * 3)",
    "np.arange(10**11)",
    "np.tile(input, 10**10)",
    "sum([i * j for i in range(10**5) for j in range(10**5)])",
    "input.astype('O') ** 999999999",
    "np.arange(1, 100000, dtype='O').prod()",
    "np.zeros([9], 'S1000000000')",
    "['%999999999d'][0] % 1",
    "round(10**30, -10**9)",
]
TARGETS = [
    "self.{}",
    "self.__dict__[{}]",
    "x[{}]",
    "x, self.{}",
    "(x := {})",
    "x = {}",
    "x: {}",
    "*{}",
    "{}",
    "x; {}",
    "x\n    {}",
    "x\\\n",
    "x, y = {}",
    "x)\n    {}\n    (",
    "lambda: {}",
]


def snippet(pick: random.Random, names: Sequence[str], kind: str) -> str:
    """A snippet that would touch a file, write into what it was given, or never end.

    Args:
        pick: Decides.
        names: What it may read.
        kind: Where it stands, such as `reference`.
    """
    made, name = _snippet(pick, kind), pick.choice(names or ["input"])
    return re.sub(r"\binput\b", name, made)


def parameters(pick: random.Random, text: str) -> str:
    """A family with one of its parameters exchanged; several lines are no parameter."""
    try:
        tree = ast.parse(text, mode="eval").body
        made = ast.parse(_snippet(pick, "reference"), mode="eval").body
    except (SyntaxError, ValueError):
        return text
    if not isinstance(tree, ast.Call) or not tree.keywords:
        return text
    function = made.func if isinstance(made, ast.Call) and pick.random() < 0.5 else made
    pick.choice(tree.keywords).value = function
    return ast.unparse(tree)


def _snippet(pick: random.Random, where: str) -> str:
    kind = pick.random()
    if where != "reference":
        kind *= 0.7 if kind < 0.95 else 1
    if kind < 0.5:
        near = [each for each in FUNCTIONS if each[0] == NEAR.get(where)]
        space, member, given = pick.choice(near if near and pick.random() < 0.8 else FUNCTIONS)
        words = {"f": f"{space}.{member}", "s": space, "m": member, "a": given, "c": CANARY}
        return pick.choice(WAYS).format(**words)
    if kind < 0.75:
        return f"{pick.choice(ARRAYS)}.{pick.choice(METHODS)}"
    return pick.choice(WRITES if kind < 0.95 else ENDLESS)


def quoted(pick: random.Random) -> str:
    """An expression that holds a text which leaves its quotes, if it has some."""
    before, after = pick.choice(AROUND[:7])
    code = pick.choice(CODE).replace("'", '"') if "'" in before else pick.choice(CODE)
    written = before + code + after
    return pick.choice(["len({})", "{} == S", "[{}][0]", "{}"]).format(_literal(pick, written))


def _literal(pick: random.Random, text: str) -> str:
    mark = pick.choice(["'", '"'])
    return mark + text.replace("\\", "\\\\").replace(mark, f"\\{mark}") + mark


def target(pick: random.Random) -> str:
    """A name of a step or an output that is none."""
    return pick.choice(TARGETS).format(pick.choice(CODE))
