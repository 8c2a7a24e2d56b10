"""Types of ONNX's values: dtypes, and the symbols of dynamic sizes.

A size that a file names is a symbol of that name; one that it does not know is a symbol of its own.
PyTorch's exporter writes sums and products of names, too, as `past + 1`.
"""

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import ForeignValue
from tripybuild.importer.onnx_model.list_inputs import LISTS
from tripybuild.importer.onnx_model.names import UniqueNames
from tripybuild.importer.onnx_model.schemas import is_element_type, type_name
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import SnippetError, parse
from tripybuild.language.names import free_names
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.onnx.table import BY_CODE
from tripybuild.symbolic.dims import RESERVED, Dim
from tripybuild.trace.values import Size, TensorType
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:
    from onnx import TensorShapeProto, TypeProto

_LONGEST = 200  # characters of a name that is read as an expression


class DimensionNames:
    """The symbols of a model's dynamic sizes, by the names in its file.

    Args:
        ranges: The ranges that are known, by name; others begin at 1.
        inputs: The types of the inputs. What is computed of a size that none of them has by itself
            is a symbol of its own.
    """

    def __init__(
        self, ranges: Mapping[str, SizeRange] | None = None, inputs: Iterable["TypeProto"] = ()
    ) -> None:
        self.ranges: dict[str, SizeRange] = {}
        dims = (dim for each in inputs for dim in each.tensor_type.shape.dim)
        self._solved = {each.dim_param for each in dims if each.dim_param.isidentifier()}
        self._known = dict(ranges or {})
        self._names = UniqueNames("size", RESERVED)
        self._symbols: dict[str, Dim] = {}

    def value(self, name: str, said: "TypeProto") -> ForeignValue:
        """A value of a type; without one where a size is unknown."""
        kind = said.WhichOneof("value")
        if kind in LISTS:
            return ForeignValue(name)
        if kind != "tensor_type":
            what = (kind or "nothing").removesuffix("_type")
            return ForeignValue(name, unsupported=what)
        element = said.tensor_type.elem_type
        found = BY_CODE.get(element)
        if found is None:
            return ForeignValue(name, unsupported=type_name(element))
        if not said.tensor_type.HasField("shape"):
            return ForeignValue(name)
        sizes = [self._stated(each) for each in said.tensor_type.shape.dim]
        if None in sizes:
            return ForeignValue(name)
        return ForeignValue(name, TensorType(found, tuple(s for s in sizes if s is not None)))

    def result(self, name: str, said: "TypeProto") -> ForeignValue:
        """What a node gives: a value of a type, or a list, of which no type is stated."""
        is_list = said.WhichOneof("value") in LISTS
        return ForeignValue(name) if is_list else self.value(name, said)

    def input(self, name: str, said: "TypeProto") -> ForeignValue:
        """An input of the model: unknown sizes become symbols.

        Raises:
            DiagnosticError: It is no tensor of a dtype of ours, or its rank is unknown.
        """
        found = self.value(name, said)
        if said.WhichOneof("value") in LISTS:
            message = f"the input `{name}` is a sequence, and how many tensors it has is not stated"
            hint = "make each of its tensors an input, and the sequence of those"
            raise DiagnosticError(Diagnostic("onnx-unsupported", message, hint=hint))
        if found.unsupported:
            is_known = is_element_type(said.tensor_type.elem_type)
            hint = (
                "make the input one of another dtype, and cast it behind that"
                if is_known
                else "the file is damaged, or states no type of the input"
            )
            message = f"the input `{name}` is of {found.unsupported}, which no dtype is"
            raise DiagnosticError(Diagnostic("onnx-unsupported", message, hint=hint))
        if not said.tensor_type.HasField("shape"):
            message = f"the input `{name}` has no shape"
            hint = "write its shape into the file; sizes may be names"
            raise DiagnosticError(Diagnostic("onnx-unsupported", message, hint=hint))
        kind = BY_CODE[said.tensor_type.elem_type]
        dims = said.tensor_type.shape.dim
        sizes = tuple(self._size(each, f"{name}_{i}") for i, each in enumerate(dims))
        return ForeignValue(name, TensorType(kind, sizes))

    def _size(self, said: "TensorShapeProto.Dimension", otherwise: str) -> Size:
        """The size of an input's dimension; a name in it becomes a symbol."""
        if said.HasField("dim_value") and said.dim_value >= 0:
            return said.dim_value
        name = said.dim_param
        if not name.strip("? "):
            return self._symbol(otherwise)
        found = self._computed(name, self._solved)
        return self._symbol(name) if found is None else found

    def _stated(self, said: "TensorShapeProto.Dimension") -> Size | None:
        """The size that a file states of a value, where all names in it are those of inputs."""
        if said.HasField("dim_value"):
            return said.dim_value if said.dim_value >= 0 else None
        name = said.dim_param
        return self._symbols.get(name) or (self._computed(name, self._symbols) if name else None)

    def _symbol(self, name: str) -> Dim:
        if name not in self._symbols:
            said = self._known.get(name, SizeRange(1, 1, None))
            own = self._names.find(name)
            self.ranges[own] = said
            self._symbols[name] = said.symbol(own)
        return self._symbols[name]

    def _computed(self, text: str, known: Container[str]) -> Size | None:
        """A sum or product of names; None for what is none, or has others than are known."""
        if text.isidentifier() or len(text) > _LONGEST:
            return None
        try:
            program = parse(text)
            names = free_names(program.result)
            if not all(name in known for name in names):
                return None
            sizes = {name: self._symbol(name) for name in names}
            found = evaluate(program, sizes, Vocabulary())
        except (SnippetError, EvaluationError):
            return None
        if isinstance(found, bool) or (isinstance(found, int) and found < 0):
            return None
        return found if isinstance(found, int | Dim) else None
