"""Records: plain data by name, such as a model's configuration or the sizes of one of its towers.

Invariant: a record is never changed, and holds numbers, booleans, strings, None, lists and records,
or dtypes where a specification puts them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tripybuild.errors.diagnostics import suggest

_SHOWN_KEYS: Final = 6


class RecordKeyError(LookupError):
    """A record has no such key; `hint` says which it has, `code` what kind of record it is."""

    def __init__(self, message: str, code: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


class Record:
    """Values by name: `config.width`, `config["width"]`, `config.get("width", 8)`.

    Args:
        path: How an expression reads it: `config.text_config`.
        fields: The values.
        source: Where a configuration is from, empty if from the file that reads it; None for sizes.
        defaults: The keys that the source lacks.
        reads: Where each read of such a key is noted, by its path.
    """

    __slots__ = ("_defaults", "_fields", "_key", "_path", "_reads", "_source")

    def __init__(
        self,
        path: str,
        fields: Mapping[str, Any],
        source: str | None = None,
        defaults: frozenset[str] = frozenset(),
        reads: dict[str, Any] | None = None,
    ) -> None:
        self._path, self._fields, self._source = path, dict(fields), source
        self._defaults, self._reads = defaults, reads
        self._key: str | None = None

    def __getitem__(self, name: object) -> Any:
        if not isinstance(name, str):
            message = f"the keys of `{self._path}` are strings, not {name!r}"
            raise RecordKeyError(message, "snippet-evaluation")
        if name not in self._fields:
            raise self._missing(name)
        found = self._fields[name]
        if name in self._defaults and self._reads is not None and not isinstance(found, Record):
            self._reads[f"{self._path}.{name}"] = found
        return found

    def get(self, name: str, default: object = None) -> Any:
        """Give the value of a key, or another one where there is no such key."""
        return self[name] if name in self else default  # noqa: SIM401 - no mapping

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name}: {value!r}' for name, value in self._fields.items())}}}"

    def path(self) -> str:
        """Say how an expression reads it."""
        return self._path

    def with_fields(self, fields: Mapping[str, Any]) -> "Record":
        """Give the same record with other values."""
        kept = [name for name in self._defaults if fields.get(name) is self._fields[name]]
        return Record(self._path, fields, self._source, frozenset(kept), self._reads)

    def read_hint(self) -> str | None:
        """Say how a value of it is read, if it has one."""
        first = next(iter(self), None)
        return f"a record is read by its keys: `{self._path}.{first}`" if first else None

    def values(self) -> Iterator[Any]:
        """Give what it holds, in the order of its keys."""
        return iter(self._fields.values())

    def key(self) -> str:
        """Tell the record from others: equal data has equal keys, and `1` is not `1.0`."""
        if self._key is None:
            self._key = repr(self)
        return self._key

    def _missing(self, name: str) -> RecordKeyError:
        message = f"`{self._path}` has no key `{name}`"
        if self._source:
            message += f", and is from `{self._source}`"
        code = "unbound-name" if self._source is None else "config-key"
        if near := suggest(name, self._fields):
            return RecordKeyError(message, code, f"did you mean `{near}`?")
        keys = [f"`{each}`" for each in self._fields]
        more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
        hint = f"its keys are {', '.join(keys[:_SHOWN_KEYS])}{more}" if keys else "it is empty"
        return RecordKeyError(message, code, hint)


METHODS: Final = frozenset({"get"})


class ChoiceWord(str):
    """One of some words; it is compared with those alone, so that no misspelled one goes unseen."""

    __slots__ = ("options",)
    options: tuple[str, ...]

    @classmethod
    def of(cls, word: str, options: tuple[str, ...]) -> "ChoiceWord":
        """Make a choice among options of which the word is one."""
        choice = cls(word)
        choice.options = options
        return choice

    def check_comparable(self, other: object) -> None:
        """Refuse a comparison that never holds.

        Raises:
            ValueError: The other is none of the options.
        """
        if isinstance(other, (list, tuple)):
            for each in other:
                self.check_comparable(each)
        elif not isinstance(other, str) or other not in self.options:
            raise ValueError(self._incomparable(other))

    def _incomparable(self, other: object) -> str:
        if isinstance(other, str):
            return f"`{other}` is none of {', '.join(f'`{each}`' for each in self.options)}"
        words = ", ".join(f'"{each}"' for each in self.options)
        return f"a choice is compared with one of its words, in quotes: {words}"
