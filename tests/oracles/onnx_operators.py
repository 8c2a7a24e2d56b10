"""Where `tripybuild/onnx/operators.jsonl` comes from: ONNX's own schemas, from `onnx.defs`.

python tests/oracles/onnx_operators.py > tripybuild/onnx/operators.jsonl
"""

import json
import sys
from collections import defaultdict

import numpy as np
import onnx

from tripybuild.onnx.table import NEWEST, OLDEST


def lines():
    """The table: the sets of types, then each version of each operator."""
    chosen = [schema for versions in _versions().values() for schema in versions]
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
        schema.name,
        schema.since_version,
        [_tensor(each) for each in schema.inputs],
        [_tensor(each) for each in schema.outputs],
        {name: _attribute(each) for name, each in sorted(schema.attributes.items())},
        {each.type_param_str: numbers[_allowed(each)] for each in schema.type_constraints},
    ]
    return [*row, "deprecated"] if schema.deprecated else row


def _allowed(constraint):
    return " ".join(sorted(constraint.allowed_type_strs))


def _tensor(formal):
    """`name type`; behind the name `?` where it is optional, `*` or `**` where it is variadic."""
    option = str(formal.option).rpartition(".")[2]
    several = "*" if formal.is_homogeneous else "**"
    mark = {"Single": "", "Optional": "?", "Variadic": several}[option]
    return f"{formal.name}{mark} {formal.type_str}"


def _attribute(attribute):
    """The kind; behind it `?` where it may be left out, or a pair of the kind and the default."""
    kind = str(attribute.type).rpartition(".")[2].lower()
    if attribute.required:
        return kind
    if not attribute.default_value.name:
        return f"{kind}?"
    value = onnx.helper.get_attribute_value(attribute.default_value)
    if isinstance(value, float):
        return [kind, float(str(np.float32(value)))]  # files hold float32
    texts = [v.decode() if isinstance(v, bytes) else v for v in np.atleast_1d(value).tolist()]
    return [kind, texts if isinstance(value, list) else texts[0]]


def _json(value):
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines())
