"""Parser of `func.func`, with the argument attributes that xDSL drops."""

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Region
from xdsl.parser import Parser

from tripybuild.tensorrt.mlir.reading.location_reader import LocationReader

Signature = list[tuple[Attribute, dict[str, Attribute]]]
_OWN = ("sym_name", "function_type", "sym_visibility")


def function(reader: LocationReader) -> FuncOp:
    """Read what follows `func.func`."""
    visibility = reader.parse_optional_visibility_keyword()
    name = reader.parse_symbol_name()
    named: list[Parser.Argument] = []
    parenthesis = reader.Delimiter.PAREN
    inputs = reader.parse_comma_separated_list(parenthesis, lambda: _argument(reader, named))
    if named and len(named) != len(inputs):
        reader.raise_error("expected SSA identifier for each argument, or for none")
    outputs = _results(reader)
    attributes = reader.parse_optional_attr_dict_with_keyword(_OWN)
    place = reader.token
    is_defined = place.text == "{"
    region = reader.parse_region(named or None) if is_defined else Region()
    if is_defined and not region.blocks:
        reader.raise_error("expected non-empty function body", place)
    found = FuncOp(
        name.data,
        ([type for type, _ in inputs], [type for type, _ in outputs]),
        region,
        visibility if visibility is None else StringAttr(visibility.data),
        arg_attrs=_dictionaries(inputs),
        res_attrs=_dictionaries(outputs),
    )
    if attributes is not None:
        found.attributes |= attributes.data
    return found


def _argument(
    reader: LocationReader, named: list[Parser.Argument]
) -> tuple[Attribute, dict[str, Attribute]]:
    argument = reader.parse_optional_argument()
    type = reader.parse_type() if argument is None else argument.type
    attributes = reader.parse_optional_dictionary_attr_dict()
    location = reader.parse_optional_location()
    if argument is not None:
        argument.location = location
        named.append(argument)
    return type, attributes


def _results(reader: LocationReader) -> Signature:
    if reader.parse_optional_punctuation("->") is None:
        return []
    if reader.token.text != "(":
        return [(reader.parse_type(), {})]
    return reader.parse_comma_separated_list(
        reader.Delimiter.PAREN,
        lambda: (reader.parse_type(), reader.parse_optional_dictionary_attr_dict()),
    )


def _dictionaries(signature: Signature) -> ArrayAttr[DictionaryAttr] | None:
    if not any(attributes for _, attributes in signature):
        return None
    return ArrayAttr([DictionaryAttr(attributes) for _, attributes in signature])
