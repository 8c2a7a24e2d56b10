"""Canonical form of compiled XLA programs: equal modules give equal bytes.

XLA writes the object files of a program in the order in which its threads finish them, and numbers
modules as they come in one process. Neither says anything about the program: object files are
linked by the names in them, and the first module of each process has the number 0. So they are put
in the order of their bytes, and the number becomes 0, which takes 0.5 to 30 ms. To generate code in
one piece (`xla_cpu_parallel_codegen_split_count`) takes up to a third longer, and leaves both.

What is serialized is a protocol buffer behind the runtime's own header. Its fields are those of
XLA's `CompilationResultProto`; what looks otherwise is left as it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

RESULT = 1  # the field of the executable that holds the compiler's result
MODULE, THUNKS, OBJECTS = 1, 6, 8  # fields of the result
HLO, NAME, NUMBER = 1, 1, 5  # the module in it without its configuration, and two of its fields
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
SIZES = {FIXED64: 8, FIXED32: 4}
ELF = b"\x7fELF"


class UnknownFormError(Exception):
    """The bytes are not in the form that is described here."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message: its number, its kind, and its content."""

    number: int
    kind: int
    content: bytes

    def encode(self) -> bytes:
        """The field as it stands in a message."""
        tag = _varint(self.number << 3 | self.kind)
        size = _varint(len(self.content)) if self.kind == BYTES else b""
        return tag + size + self.content


def canonicalize(payload: bytes) -> bytes:
    """Put a serialized program into its canonical form; it is the same program."""
    try:
        size, start = _number(payload, 0)
        start += size
        return payload[:start] + _map_field(payload[start:], RESULT, _result)
    except UnknownFormError:
        return payload


def _result(content: bytes) -> bytes:
    fields = list(_fields(content))
    modules = [each for each in fields if each.number == MODULE]
    if len(modules) != 1:
        raise UnknownFormError
    name, number = _identity(modules[0].content)
    objects = iter(sorted(_object(each) for each in fields if each.number == OBJECTS))
    made = []
    for each in fields:
        content = each.content
        if each.number == OBJECTS:
            content = next(objects)
        elif each.number == MODULE and number is not None:
            content = _map_field(content, HLO, _strip_number)
        elif each.number == THUNKS and number is not None:
            content = _anonymous(content, name, number)
        made.append(Field(each.number, each.kind, content).encode())
    return b"".join(made)


def _object(field: Field) -> bytes:
    inner = [each for each in _fields(field.content) if each.number == 1]
    if len(inner) != 1 or not inner[0].content.startswith(ELF):
        raise UnknownFormError
    return field.content


def _identity(module: bytes) -> tuple[bytes, bytes | None]:
    """The name of a module and its number; the number 0 is not written."""
    for each in _fields(module):
        if each.number == HLO:
            found = {inner.number: inner for inner in _fields(each.content)}
            if NAME in found and found[NAME].kind == BYTES:
                number = found.get(NUMBER)
                return found[NAME].content, number.content if number else None
    raise UnknownFormError


def _strip_number(module: bytes) -> bytes:
    return b"".join(each.encode() for each in _fields(module) if each.number != NUMBER)


def _anonymous(content: bytes, name: bytes, number: bytes) -> bytes:
    """Leave the module's number out of what each thunk says of itself.

    Thunks hold sequences of thunks. What is looked for is the same in each: the module's name as
    field 2 with its number as field 3 right behind it.
    """
    told = [Field(2, BYTES, name), Field(3, VARINT, number)]
    sought = b"".join(each.encode() for each in told)
    if sought not in content:
        return content
    try:
        fields = list(_fields(content))
    except UnknownFormError:  # a text, or bytes, that holds the same by chance
        return content
    made = []
    for before, each in zip([None, *fields], fields, strict=False):
        if [before, each] == told:
            continue
        inner = _anonymous(each.content, name, number) if each.kind == BYTES else each.content
        made.append(Field(each.number, each.kind, inner).encode())
    return b"".join(made)


def _map_field(content: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    """Change the contents of a message's fields of a number."""
    return b"".join(
        Field(each.number, each.kind, change(each.content)).encode()
        if each.number == number
        else each.encode()
        for each in _fields(content)
    )


def _fields(content: bytes) -> Iterator[Field]:
    at = 0
    while at < len(content):
        tag, begin = _number(content, at)
        kind = tag & 7
        if kind == VARINT:
            _, end = _number(content, begin)
        elif kind == BYTES:
            size, begin = _number(content, begin)
            end = begin + size
        elif kind in SIZES:
            end = begin + SIZES[kind]
        else:
            raise UnknownFormError
        if tag < 8 or end > len(content):
            raise UnknownFormError
        yield Field(tag >> 3, kind, content[begin:end])
        at = end


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Read a number in groups of seven bits, and where it ends."""
    number = 0
    for index, octet in enumerate(content[at : at + 10]):
        number |= (octet & 127) << 7 * index
        if octet < 128:
            return number, at + index + 1
    raise UnknownFormError


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 127:
        octets.append(number & 127 | 128)
        number >>= 7
    octets.append(number)
    return bytes(octets)
