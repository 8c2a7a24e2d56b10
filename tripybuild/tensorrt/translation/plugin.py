"""Emitters of plugins: layers of a user's library, where the TensorRT library supports it.

Invariant: a module is data. It names a plugin, and never makes us load a file: `dso_path` is for
mlir-tensorrt, and here plugins are those that are registered when an engine is built.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute

from tripybuild.tensorrt.mlir import elements

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

# The types of a plugin's fields, under numpy's names.
FIELDS: Mapping[str, str] = {
    "FLOAT16": "float16",
    "FLOAT32": "float32",
    "FLOAT64": "float64",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "CHAR": "int8",
}


def plugin_of(at: "Emission", op: Any) -> Any:
    """Make the plugin that an operation names, by the creator that is registered for it."""
    name, version, space = (op.value(f"plugin_{part}") for part in ("name", "version", "namespace"))
    creator = at.library.module.get_plugin_registry().get_creator(name, version, space)
    if creator is None:
        message = f"No plugin `{name}`, version `{version}`, is registered in `{space}`"
        hint = (
            "register its creator first (`tripybuild opt` has `--plugins FILE.py`): nothing that a "
            "module names is loaded"
        )
        at.refuse(message, "tensorrt-unsupported", hint=hint)
    plugin = creator.create_plugin(
        name, _fields(at, creator, op.value("creator_params")), at.member("TensorRTPhase", "BUILD")
    )
    if plugin is None:
        at.refuse(f"The plugin `{name}` cannot be made of these parameters")
    return plugin


def _fields(at: "Emission", creator: Any, parameters: Mapping[str, Attribute]) -> Any:
    module = at.library.module
    known = {each.name: each.type for each in creator.field_names}
    fields = []
    for name, value in parameters.items():
        if name not in known:
            hint = "it has " + (", ".join(f"`{each}`" for each in known) or "none")
            at.refuse(f"The plugin has no parameter `{name}`", hint=hint)
        kind = str(known[name]).rpartition(".")[2]
        array = _array(value, FIELDS.get(kind, ""))
        if array is None:
            at.refuse(f"The plugin's parameter `{name}` is a {kind}, and not `{value}`")
        at.constants.kept.append(array)
        fields.append(module.PluginField(name, array, known[name]))
    return module.PluginFieldCollection(fields)


def _array(value: Attribute, dtype: str) -> NDArray[Any] | None:
    """Return a parameter's value as the array of numbers that plugins are given."""
    if not dtype:
        return None
    if isinstance(value, StringAttr):
        return np.frombuffer(value.data.encode(), np.int8) if dtype == "int8" else None
    if isinstance(value, IntegerAttr | FloatAttr):
        return np.array([value.value.data], dtype)
    if isinstance(value, DenseArrayBase):
        return np.array(value.get_values(), dtype)
    if isinstance(value, DenseIntOrFPElementsAttr):
        return elements.to_numpy(value).astype(dtype)
    return None
