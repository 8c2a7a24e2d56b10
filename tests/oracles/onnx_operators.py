"""Where `tripybuild/onnx/*.jsonl` come from: schemas of `onnx.defs`, and those of ONNX Runtime.

python tests/oracles/onnx_operators.py > tripybuild/onnx/operators.jsonl
python tests/oracles/onnx_operators.py runtime > tripybuild/onnx/runtime_operators.jsonl
"""

import json
import sys
from collections import defaultdict

import numpy as np
import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as state

from tripybuild.onnx.table import NEWEST, OLDEST, RUNTIME_DOMAIN

# What ONNX Runtime's optimizer writes without a domain, though ONNX has no such operator.
IN_OWN_DOMAIN = ("", "SimplifiedLayerNormalization")


def lines():
    """The table: the sets of types, then each version of each operator."""
    yield from _table([schema for versions in _versions().values() for schema in versions])


def runtime_lines():
    """The table of ONNX Runtime's operators, those that it has in ONNX's domain among them."""
    chosen = [
        each
        for each in state.get_all_operator_schema()
        if each.domain == RUNTIME_DOMAIN or (each.domain, each.name) == IN_OWN_DOMAIN
    ]
    yield from _table(sorted(chosen, key=_qualified_name))


def _table(chosen):
    sets = sorted({_allowed(each) for schema in chosen for each in schema.type_constraints})
    numbers = {types: index for index, types in enumerate(sets)}
    yield _json(sets)
    for schema in chosen:
        yield _json(_row(schema, numbers))


def _versions():
    """The versions of each operator of the default domain that are in force in an opset."""
    found = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST:
            found[schema.name].append(schema)
    for name in sorted(found):
        versions = sorted(found[name], key=lambda schema: schema.since_version)
        ends = [each.since_version for each in versions[1:]] + [NEWEST + 1]
        found[name] = [s for s, end in zip(versions, ends, strict=True) if end > OLDEST]
    return dict(sorted(found.items()))


def _row(schema, numbers):
    row = [
        _qualified_name(schema),
        schema.since_version,
        [_tensor(each) for each in schema.inputs],
        [_tensor(each) for each in schema.outputs],
        {name: _attribute(each) for name, each in sorted(schema.attributes.items())},
        {each.type_param_str: numbers[_allowed(each)] for each in schema.type_constraints},
    ]
    return [*row, "deprecated"] if schema.deprecated else row


def _qualified_name(schema):
    return f"{schema.domain}.{schema.name}" if schema.domain else schema.name


def _allowed(constraint):
    return " ".join(sorted(constraint.allowed_type_strs))


def _tensor(formal):
    """`name type`; behind the name `?` where it is optional, `*` or `**` where it is variadic."""
    option = str(formal.option).rpartition(".")[2]
    is_homogeneous = getattr(formal, "is_homogeneous", None)
    several = "**" if False in (is_homogeneous, getattr(formal, "isHomogeneous", None)) else "*"
    mark = {"Single": "", "Optional": "?", "Variadic": several}[option]
    said = getattr(formal, "type_str", None) or formal.typeStr
    return f"{formal.name}{mark} {said}"


def _attribute(attribute):
    """The kind; behind it `?` where it may be left out, or a pair of the kind and the default."""
    kind = str(attribute.type).rpartition(".")[2].lower()
    if attribute.required:
        return kind
    default = _default(attribute)
    if not default.type:
        return f"{kind}?"
    value = onnx.helper.get_attribute_value(default)
    if isinstance(value, float):
        return [kind, float(str(np.float32(value)))]  # files hold float32
    texts = [v.decode() if isinstance(v, bytes) else v for v in np.atleast_1d(value).tolist()]
    return [kind, texts if isinstance(value, list) else texts[0]]


def _default(attribute):
    if hasattr(attribute, "default_value"):
        return attribute.default_value
    return onnx.AttributeProto.FromString(attribute._default_value)


def _json(value):
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    chosen = runtime_lines if sys.argv[1:] == ["runtime"] else lines
    sys.stdout.writelines(f"{line}\n" for line in chosen())
