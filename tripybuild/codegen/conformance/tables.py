"""Tables of the grammar of generated code: imports, names, attributes, functions.

What the generator newly writes has to be added here, after considering whether an untrusted
declaration could misuse it.
"""

import ast
from collections.abc import Mapping

from tripybuild import stablehlo
from tripybuild.codegen.python.rewrite import CONSTANTS, MATH
from tripybuild.language.vocabulary import NUMPY, NUMPY_CONSTANTS, PYTHON
from tripybuild.onnx import dialect as onnx
from tripybuild.schema.snippets.vocabularies import ARRAY_METHODS, ATTRIBUTES, HELPERS
from tripybuild.tensorrt import layers
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.shapes import SHAPE_FUNCTIONS, bounded_range, power

STATEMENTS = frozenset(
    {
        ast.AnnAssign, ast.Assign, ast.ClassDef, ast.Expr, ast.FunctionDef, ast.If, ast.Import,
        ast.ImportFrom, ast.Return, ast.With,
    }
)  # fmt: skip
EXPRESSIONS = frozenset(
    {
        ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict,
        ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.List, ast.ListComp, ast.Name, ast.Slice,
        ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp,
    }
)  # fmt: skip
ANNOTATED = frozenset(
    {
        ast.Attribute, ast.BinOp, ast.Constant, ast.List, ast.Name, ast.Subscript, ast.Tuple,
    }
)  # fmt: skip
DECORATORS = frozenset({"classmethod", "dataclass", "overload", "pytest.mark.parametrize"})

# Modules as they are imported, by what they are called then.
MODULES = {"math": "math", "pytest": "pytest"}
IMPORTS: Mapping[str, frozenset[str]] = {
    "collections.abc": frozenset({"Callable", "Sequence"}),
    "dataclasses": frozenset({"dataclass"}),
    "tripybuild": frozenset({"eager", "frontend", "stablehlo as hlo"}),
    "tripybuild.tensorrt": frozenset({"layers as trt"}),
    "tripybuild.onnx": frozenset({"dialect as onnx"}),
    "tripybuild.eager": frozenset({"Module"}),
    "tripybuild.frontend": frozenset(
        {
            "DeviceLike", "IndexLike", "IntLike", "are_sizes", "begin", "bind", "dimension",
            "dtype_of", "to_device", "record", "record_any", "record_several", "size_of", "tensor",
        }
    ),
    "tripybuild.frontend.checks": frozenset({"Check", "Index", "RequiredType"}),
    "tripybuild.frontend.guard": frozenset({"refuse_calls", "warn_deprecation"}),
    "tripybuild.reference.numerics": frozenset(HELPERS),
    "tripybuild.reference.numerics.arrays": frozenset({"Array"}),
    "tripybuild.reference.numerics.numpy_guard": frozenset({"numpy as np"}),
    "tripybuild.testing": frozenset({"ModuleSuite", "Suite", "sample_tuples"}),
    "tripybuild.trace": frozenset(
        {
            "Declaration", "Law", "Region", "Size", "TensorType", "TraceOp", "Value",
        }
    ),
    "tripybuild.types": frozenset({"dtypes", "shapes"}),
    "typing": frozenset({"Any", "Self", "overload"}),
}  # fmt: skip

# Python's own functions that are called, and types that annotations name.
BUILT_INS = frozenset(PYTHON.functions) | {"isinstance", "str", "object"}
# What a generated package has beside operators and modules, which no declaration calls, and names
# that must not be bound, so that they mean the same everywhere.
HIDDEN = frozenset(
    {
        "Bounds", "DimensionInputInfo", "DimensionSize", "Executable", "InputInfo", "Module",
        "NamedDimension", "OutputInfo", "Sequential", "Stream", "Tensor", "TripyException",
        "compile", "config", "default_stream", "isinstance", "logger", "types",
    }
)  # fmt: skip

# The functions behind a name, which can only be called, and what can be read; None is any name
# that is not Python's own.
NAMESPACES: Mapping[str, tuple[frozenset[str] | None, frozenset[str]]] = {
    "arrays": (HELPERS["arrays"], frozenset()),
    "control": (HELPERS["control"], frozenset()),
    "draws": (HELPERS["draws"], frozenset()),
    "sampling": (HELPERS["sampling"], frozenset()),
    "dtypes": (frozenset(), frozenset(BY_NAME) | {"dtype"}),
    "eager": (frozenset({"Tensor", "DimensionTensor", "Parameter"}), frozenset()),
    "frontend": (frozenset(), frozenset({"Tensor"})),
    "hlo": (frozenset(stablehlo.BUILDERS), frozenset()),
    "math": (MATH, CONSTANTS),
    "np": (NUMPY - NUMPY_CONSTANTS, NUMPY_CONSTANTS),
    "onnx": (onnx.builders(), frozenset()),
    "package": (None, frozenset()),
    "pytest": (frozenset({"importorskip"}), frozenset({"mark"})),
    "shapes": (
        frozenset(each.__name__ for each in SHAPE_FUNCTIONS.values())
        | {bounded_range.__name__, power.__name__},
        frozenset(),
    ),
    "trt": (frozenset(layers.LAYERS) | frozenset(layers.HELPERS), frozenset()),
}
# The attributes and methods of values.
READ = frozenset().union(*ATTRIBUTES.values()) | {"outputs", "rest", "type"}
CALLED = ARRAY_METHODS | {"with_types", "parametrize"}
TENSOR = frozenset({"frontend.Tensor.__hash__"})
