"""StableHLO text as a JAX function, so that `jax.jit` compiles and calls the very same module."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

COUNT = itertools.count()
ELEMENTS = {"f32": np.float32, "i32": np.int32, "i1": np.bool_}


def callable_of(text: str) -> Callable[..., Any]:
    """Return a function of the module's arguments; its body is the module's `main`."""
    primitive: Any = Primitive(f"stablehlo_{next(COUNT)}")
    primitive.multiple_results = True

    def lower(context: Any, *operands: Any, **_parameters: Any) -> Any:
        whole = context.module_context.module
        module = ir.Module.parse(text, whole.context)
        types = result_types(module)
        name = mlir.merge_mlir_modules(whole, "body", module)
        return func.CallOp(types, ir.FlatSymbolRefAttr.get(name), operands).results

    primitive.def_abstract_eval(lambda *_inputs: results(text))
    mlir.register_lowering(primitive, lower)
    function: Callable[..., Any] = primitive.bind
    return function


def result_types(module: Any) -> list[Any]:
    """Return the MLIR types of the results of `main`."""
    (main,) = (op for op in module.body.operations if op.sym_name.value == "main")
    return list(main.type.results)


def results(text: str) -> list[Any]:
    """Return the results of `main` as JAX describes arrays."""
    with mlir.make_ir_context():
        types = [ir.RankedTensorType(kind) for kind in result_types(ir.Module.parse(text))]
        return [ShapedArray(tuple(t.shape), ELEMENTS[str(t.element_type)]) for t in types]
