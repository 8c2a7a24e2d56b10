"""Right declarations that say all that a file of their kind can say, for cases to change."""

from typing import Any

INPUT = {"type": "T[N, *S]", "doc": "The values."}
DIRECT: dict[str, Any] = {
    "tripybuild": 1,
    "op": "direct",
    "doc": "Do something.\n\nIn a second paragraph, `code` and *stars*.",
    "types": {"T": ["float32", "int32"], "I": ["int32"]},
    "inputs": {
        "input": INPUT,
        "other": {"type": "T[N, *S]", "optional": True, "doc": "More values."},
        "place": {"type": "I[K]", "doc": "Positions."},
    },
    "attributes": {
        "count": {"type": "int", "default": 2, "doc": "A number."},
        "dim": {"type": "axis(input)", "default": 0, "doc": "A dimension."},
        "mode": {"type": "edge | wrap", "default": '"edge"', "doc": "A word."},
        "pads": {"type": "int[len(S)]", "default": "[0] * len(S)", "doc": "Numbers."},
        "scale": {"type": "float", "default": "1.0", "doc": "A real number."},
        "deep": {"type": "bool", "default": False, "doc": "Whether."},
    },
    "outputs": {"output": {"type": "T[N, *E]", "doc": "The results."}},
    "requires": {
        "positive": "count > 0",
        "ranked": {
            "that": "len(S) < 4",
            "message": "The sizes {S} of `input` are more than {count}",
            "hint": "write fewer",
        },
    },
    "infer": {"E": "[d + p - p for d, p in zip(S, pads)]", "half": "N // 2"},
    "reference": "y = input if other is None else other\nreturn y * convert(input, T) + half",
    "lower": {
        "tensorrt": 'trt.element_wise(input, input, "kSUM")',
        "stablehlo": "x = hlo.add(input, input)\nreturn hlo.multiply(x, input)",
        "onnx": "x = onnx.Add(input, input)\nreturn onnx.Mul(x, input)",
    },
    "targets": {
        "tensorrt": {
            "refuses": {
                "odd": {"when": "N % 2 == 1 and T in [int32]", "why": "Odd.", "says": ["odd"]}
            },
            "builds": {"more": {"when": "T in [int8]", "why": "It does."}},
        }
    },
    "tolerance": {"float32": {"relative": 1.0e-3}},
    "sample": {"N": 4, "S": [2, 3], "K": 2, "place": "integers(0, N)", "dim": 1},
    "examples": [
        {"call": "direct([[1.0]], None, [0])", "gives": [[2.0]]},
        {"call": "direct([[1.0]], None, [0], count=-1)", "fails": "positive"},
    ],
    "cost": {"flops": "2 * N", "bytes": "N * T.bits"},
    "since": "0.2",
    "deprecated": "since 2.0, write `x`.",
}
COMPOSED: dict[str, Any] = {
    "tripybuild": 1,
    "op": "composed",
    "doc": "Do something with others.",
    "types": {"T": ["float32"]},
    "inputs": {"input": {"type": "T[N, M]", "doc": "The values."}},
    "attributes": {"dim": {"type": "axis(input)", "default": None, "doc": "A dimension."}},
    "outputs": {
        "best": {"type": "T[N, M]", "doc": "The results."},
        "rest": {"type": "T[M, N]", "doc": "More results."},
    },
    "requires": {"wide": {"that": "M > 1", "message": "Only {M} columns"}},
    "shortcut": "None",
    "decompose": "over = 0 if dim is None else dim\n"
    "x = exp(input - max(input, over, keepdim=True))\nreturn x + 0.5, permute(x * M, [1, 0])",
    "sample": {"N": 2, "M": 3},
    "examples": [
        {"call": "composed([[1.0, 1.0]])", "gives": [[[1.5, 1.5]], [[2.0], [2.0]]]},
        {"call": "composed([[1.0]])", "fails": "wide"},
    ],
    "cost": {"flops": "N"},
}
FAMILY: dict[str, Any] = {
    "tripybuild": 1,
    "family": "kin",
    "parameters": ["kind", "build", "compute", "word"],
    "types": {"T": ["float32"]},
    "inputs": {"input": {"type": "T[*S]", "doc": "The values."}},
    "outputs": {"output": {"type": "T[*S]", "doc": "The results."}},
    "requires": {"small": {"that": "len(S) < 4", "message": "{S} is more than 3"}},
    "reference": "compute(input)",
    "lower": {"tensorrt": "trt.unary(input, kind)", "stablehlo": "build(input)"},
    "sample": {"S": [2, 3]},
}
MEMBER: dict[str, Any] = {
    "tripybuild": 1,
    "op": "member",
    "like": 'kin(kind="kABS", build=hlo.abs, compute=np.abs, word="some")',
    "doc": "Do what the family does.",
    "examples": [
        {"call": "member([-1.0])", "gives": [1.0]},
        {"call": "member([[[[-1.0]]]])", "fails": "small"},
    ],
    "aliases": {"onnx": "Abs(input)", "aten": "abs(input)"},
}
MODULE: dict[str, Any] = {
    "tripybuild": 1,
    "module": "Block",
    "doc": "Do something with weights.",
    "sizes": {
        "width": {"type": "int", "doc": "The width."},
        "depth": {"type": "int", "default": 2, "optional": True, "doc": "The depth."},
        "kind": {"type": "edge | wrap", "default": '"edge"', "doc": "A word."},
        "dtype": {"type": "dtype[F]", "default": "F", "doc": "The dtype."},
        "bias": {"type": "bool", "default": True, "doc": "Whether there is one."},
    },
    "requires": {
        "positive": "width > 0",
        "deep": {"that": "depth < 9", "message": "{depth} is more than {width}", "hint": "less"},
    },
    "inputs": {"x": "F[N, width]", "y": {"type": "F[N, width]", "optional": True}},
    "weights": {
        "weight": "F[width]",
        "more": {"type": "F[width]", "when": "bias", "doc": "Added."},
    },
    "steps": {"h": "x * weight", "g": "h + more if bias else h", "a, b": "split(g, 2, 1)"},
    "outputs": {"out": "concatenate([b, a], 1)", "sums": "sum(g, 1)"},
    "sample": {"width": 4, "N": 2},
    "examples": [
        {"call": "Block(-1)", "fails": "positive"},
        {"call": "Block(2, 9)", "fails": "deep"},
    ],
}
BASES: dict[str, dict[str, Any]] = {
    "math/direct.yaml": DIRECT,
    "math/composed.yaml": COMPOSED,
    "families/kin.yaml": FAMILY,
    "math/member.yaml": MEMBER,
    "modules/block.yaml": MODULE,
}
