"""Region checks: functions as arguments are recorded and their types compared.

A draft reads values from outside as they are. When all regions of an operation are recorded, they
are closed together: what one of them reads, all of them take.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from traceback import walk_tb
from typing import Any, NoReturn

from tripybuild.errors.user_frames import PACKAGES
from tripybuild.frontend.checks.attribute_checks import Attributes
from tripybuild.frontend.checks.messages import format_value
from tripybuild.symbolic.dims import same
from tripybuild.trace.operation import Law
from tripybuild.trace.region import LeakError, Region, RegionDraft, scope_operations
from tripybuild.trace.values import TensorType, Value, record_region

Body = Callable[..., Sequence[object]]


@dataclass(frozen=True, slots=True)
class RequiredType:
    """The type that an output of a region must have, and why, in words."""

    type: TensorType
    reason: str = ""


class Regions(Attributes):
    """The part of `Check` that concerns graphs."""

    def defer_law(
        self, name: str, law: Law, **names: object
    ) -> AbstractContextManager[object, bool]:
        """Let each call decide what sizes leave open inside."""
        raise NotImplementedError

    @staticmethod
    def like(name: str, value: Value | Sequence[Value]) -> list[RequiredType]:
        """What gives values of the types of an argument."""
        if isinstance(value, Value):
            return [RequiredType(value.type, f", as `{name}` is")]
        return [RequiredType(v.type, f", as `{name}[{i}]` is") for i, v in enumerate(value)]

    @staticmethod
    def like_region(draft: RegionDraft) -> list[RequiredType]:
        """What gives as another region does."""
        reason = f", as that of `{draft.name}` is"
        return [RequiredType(type, reason) for type in draft.rest]

    @staticmethod
    def rows(values: Iterable[Value]) -> list[TensorType]:
        """The types of tensors without their first dimension."""
        return [TensorType(value.dtype, value.shape[1:]) for value in values]

    def region(
        self,
        name: str,
        value: Any,
        takes: Sequence[TensorType],
        wanted: Sequence[RequiredType],
        *,
        more: bool = False,
    ) -> RegionDraft:
        """Record a function on tensors, or look at a region that was recorded already.

        Args:
            name: The argument.
            value: The function, or the region.
            takes: The types of what the function is given.
            wanted: What it must give.
            more: Whether it may give more than that.
        """
        draft = self._record_draft(name, value, takes)
        count, least = len(draft.results), len(wanted)
        if count != least and not (more and count > least):
            many = f"{least} tensor{'' if least == 1 else 's'}{' or more' if more else ''}"
            self.must(name, f"give {many}", f"it returns {count}")
        for index, (found, want) in enumerate(zip(draft.results, wanted, strict=False)):
            self._agree(name, index, found.type, want)
        return replace(draft, rest=tuple([value.type for value in draft.results[least:]]))

    def close_regions(self, captured: Sequence[Value], *drafts: RegionDraft) -> tuple[Any, ...]:
        """The regions, and behind them the values that they read from outside.

        `captured` is not empty where the regions have been recorded before.
        """
        found = (v for draft in drafts if draft.region is None for v in draft.captured)
        outside = (*captured, *(v for v in dict.fromkeys(found) if v not in captured))
        return (*[self._close_draft(draft, outside) for draft in drafts], outside)

    def _record_draft(self, name: str, value: Any, takes: Sequence[TensorType]) -> RegionDraft:
        if isinstance(value, Region):
            own, captured = value.parameters[: len(takes)], value.parameters[len(takes) :]
            draft = RegionDraft(name, own, value.results, value.operations, captured, value)
            self._check_parameters(name, own, takes)
            return draft
        if not callable(value):
            self.must(name, "be a function on tensors", f"found {format_value(value)}")
        with record_region() as scope:
            named = ((f"{name}({i})", type) for i, type in enumerate(takes))
            taken = tuple([Value(type, name=each) for each, type in named])
            gives = tuple(
                [self._check_result(name, each) for each in self._call_function(name, value, taken)]
            )
        try:
            operations, outside = scope_operations(scope, gives)
        except LeakError:
            label = "it was made by a function that was recorded for another region"
            self.must(name, "not use a tensor of another region", label)
        return RegionDraft(name, taken, gives, tuple(operations), tuple(outside))

    def _call_function(self, name: str, function: Any, taken: Sequence[Value]) -> Sequence[object]:
        """What a function gives; one with other parameters is refused."""
        try:
            given: Sequence[object] = function(*taken)
        except TypeError as error:
            *_, (innermost, _) = walk_tb(error.__traceback__)
            # Where Python cannot bind the arguments, the innermost frame is the caller's.
            if str(innermost.f_globals.get("__name__")).partition(".")[0] not in PACKAGES:
                raise
            if innermost.f_code not in (
                self._call_function.__code__,
                getattr(function, "__code__", None),
            ):
                raise
            many = f"{len(taken)} tensor{'' if len(taken) == 1 else 's'}"
            self.must(name, f"take {many}", str(error))
        return given

    def _close_draft(self, draft: RegionDraft, outside: Sequence[Value]) -> Region:
        if draft.region is None:
            return draft.close(outside)
        self._check_parameters(draft.name, draft.captured, [value.type for value in outside])
        return draft.region

    def _check_parameters(
        self, name: str, found: Sequence[Value], wanted: Sequence[TensorType]
    ) -> None:
        """What a region takes that was recorded before is what it would take now."""
        types = [(each.dtype, each.shape) for each in found]
        if not same(types, [(each.dtype, each.shape) for each in wanted]):
            label = f"it takes {format_value([value.type for value in found])}"
            self.must(name, f"take {format_value(list(wanted))}", label)

    def _check_result(self, name: str, value: object) -> Value:
        if not isinstance(value, Value):
            hint = "make a tensor of it, of the dtype that is wanted: `tensor(...)`"
            self.must(name, "give tensors", f"it returns {format_value(value)}", hint=hint)
        return value

    def _agree(self, name: str, index: int, found: TensorType, wanted: RequiredType) -> None:
        """An output has a type; where sizes leave that open, each call decides it."""
        if found.dtype is not wanted.type.dtype or found.rank != wanted.type.rank:
            self._differs(name, index, found, wanted)
        for one, other in zip(found.shape, wanted.type.shape, strict=True):
            law = Law("found == wanted")
            with self.defer_law(name, law, found=one, wanted=other):
                if one != other:
                    self._differs(name, index, found, wanted)

    def _differs(self, name: str, index: int, found: TensorType, wanted: RequiredType) -> NoReturn:
        dtypes = found.dtype is not wanted.type.dtype
        hint = f"cast it: `cast(..., {wanted.type.dtype})`" if dtypes else None
        what = f"give {wanted.type} as output {index}{wanted.reason}"
        self.must(name, what, f"it returns {found}", hint=hint)
