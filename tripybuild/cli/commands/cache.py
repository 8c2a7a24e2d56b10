"""`tripybuild cache`: what was compiled before, where it is, whether it is whole, what may go."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import table_lines
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.memory import format_bytes
from tripybuild.process.output_files import check_overwrite

if TYPE_CHECKING:
    from tripybuild.cache.catalog import CacheEntry
    from tripybuild.cache.files import PlanCache

SHOWN = 12  # digits of a key
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
AGES = (("week", 604800.0), ("day", 86400.0), ("hour", 3600.0), ("minute", 60.0))
PLURALS = {"hit": "hits", "miss": "misses"}
COLUMNS = ("key", "kind", "size", "used", "made for")


class Stretch(NamedTuple):
    """A stretch of time in seconds."""

    seconds: float


class Amount(NamedTuple):
    """A number of bytes."""

    bytes: int


def stretch(text: str) -> Stretch:
    """Read `30d`."""
    found = re.fullmatch(r"(\d{1,9})([smhdw])", text)
    if found is None:
        raise typer.BadParameter(f"`{text}` is not a time such as `30d`, `12h` or `90m`")
    return Stretch(int(found[1]) * UNITS[found[2]])


def amount(text: str) -> Amount:
    """Read `2GB`."""
    found = re.fullmatch(r"(\d{1,12})\s*([A-Za-z]*)", text)
    if found is None or found[2].upper() not in BYTES:
        raise typer.BadParameter(f"`{text}` is not a size such as `2GB` or `500MB`")
    return Amount(int(found[1]) * BYTES[found[2].upper()])


Kind = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help="Only entries of this kind.")
]
Spec = Annotated[
    str | None, typer.Option("--spec", metavar="NAME", help="Only those made for this spec.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")]


@command
def show_cache() -> CommandResult:
    """Say where the cache is, and how large.

    Where `TRIPYBUILD_REMOTE_CACHE` names one that machines share, it is asked whether it answers.
    """
    from tripybuild.cache.remote import remote_cache  # noqa: PLC0415

    cache, entries = _opened()
    remote = remote_cache()
    data = _totals(cache, entries) | {"limit": cache.limit}
    used = f"{_count(entries)}, {format_bytes(data['bytes'])} of {format_bytes(cache.limit)}"
    notes = [used]
    if remote is not None:
        problem, settings = remote.probe(), remote.settings
        data["remote"] = {"address": settings.shown, "mode": settings.mode, "problem": problem}
        state = "it answers" if problem is None else problem
        notes.append(f"shared by `{settings.shown}` ({settings.mode}): {state}")
    return CommandResult(str(cache.folder), "\n".join(notes), data)


@command
def list_entries(*, kind: Kind = None, spec: Spec = None) -> CommandResult:
    """List entries, those used last first."""
    cache, entries = _opened()
    found = _chosen(entries, kind, spec)
    data = _totals(cache, entries) | {"entries": [_entry_data(each) for each in found]}
    total = format_bytes(sum(each.size for each in found))
    return CommandResult("\n".join(_table(found)), f"{_count(found)}, {total}", data)


@command
def show_entry(
    key: Annotated[str, typer.Argument(metavar="KEY", help="4 digits or more of its key.")],
) -> CommandResult:
    """Show what made an entry.

    These are the parts of its key, and the spec and options that it was made for first.
    """
    from tripybuild.cache.catalog import find_entry  # noqa: PLC0415

    cache, entries = _opened()
    entry = find_entry(cache, key)
    shown = _entry_data(entry)
    facts = {"path": str(entry.path), "size": format_bytes(entry.size), "used": _age(entry.used)}
    if entry.record is not None:
        facts["made"] = f"{_age(entry.record.created)}, in {entry.record.seconds:.2f}s"
    lines = [f"{entry.kind} {entry.key}"]
    lines += table_lines("entry", facts)
    lines += table_lines("made for", shown["origin"])
    lines += table_lines("key", shown["parts"])
    return CommandResult("\n".join(lines), "", _totals(cache, entries) | {"entries": [shown]})


@command
def verify_cache() -> CommandResult:
    """Hash every entry; put aside damaged ones.

    They are made again when they are needed.
    """
    from tripybuild.cache.catalog import verify_entries  # noqa: PLC0415

    cache, _ = _opened()
    count, damaged = verify_entries(cache)
    _, entries = _opened()
    data = _totals(cache, entries) | {"damaged": [each.key for each in damaged]}
    lines = [f"damaged: {each.kind} {each.key[:SHOWN]}" for each in damaged]
    noun = "entry" if count == 1 else "entries"
    aside = ", put aside: made again when needed" if damaged else ""
    lines.append(f"Verified {count} {noun}: {len(damaged) or 'none'} damaged{aside}")
    return CommandResult(remark="\n".join(lines), data=data)


@command
def prune_cache(
    *,
    older: Annotated[
        Stretch | None,
        typer.Option(metavar="30d", parser=stretch, help="Remove what was not used for so long."),
    ] = None,
    size: Annotated[
        Amount | None,
        typer.Option(metavar="2GB", parser=amount, help="Keep so many bytes, those used last."),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Keep so many entries, those used last.")
    ] = None,
    dry_run: DryRun = False,
) -> CommandResult:
    """Remove entries by age, size and number."""
    from tripybuild.cache.catalog import entries_to_prune  # noqa: PLC0415

    _, entries = _opened()
    limits: dict[str, Any] = {"older": older and older.seconds, "size": size and size.bytes}
    return _remove(entries_to_prune(entries, **limits, keep=keep), is_trial=dry_run)


@command
def clear_cache(*, dry_run: DryRun = False) -> CommandResult:
    """Remove all entries."""
    return _remove(_opened()[1], is_trial=dry_run)


@command
def export_cache(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The archive.")],
    *,
    kind: Kind = None,
    spec: Spec = None,
) -> CommandResult:
    """Write entries to one file.

    It is for a machine that no network reaches.
    """
    from tripybuild.cache.archive import export_entries, is_archive  # noqa: PLC0415

    check_overwrite(path, is_archive, "an archive of a cache", "tripybuild cache export FILE")
    cache, entries = _opened()
    chosen = _chosen(entries, kind, spec)
    if not chosen and (kind or spec):  # a name that is wrong is no empty archive
        sought = f"of the kind `{kind}`" if spec is None else f"made for `{spec}`"
        hint = "`tripybuild cache list` shows what there is"
        found = Diagnostic("cache-entry", f"no entry of the cache is {sought}", hint=hint)
        raise DiagnosticError(found)
    held = export_entries(cache, chosen, path)
    data = _totals(cache, entries)
    data |= {"path": path.as_posix(), "entries": [_entry_data(each) for each in held]}
    left = f"; {len(chosen) - len(held)} left out" if len(held) < len(chosen) else ""
    size = format_bytes(path.stat().st_size)
    return CommandResult(remark=f"Wrote {_count(held)} to `{path}` ({size}){left}", data=data)


@command
def import_cache(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The archive.")],
) -> CommandResult:
    """Take entries from a file, all verified.

    They are programs, and nothing says which machine made them: take what you trust.
    """
    from tripybuild.cache.archive import import_entries  # noqa: PLC0415

    cache, _ = _opened()
    new, known = import_entries(cache, path)
    _, entries = _opened()
    added = [str(each.key) for each in new]
    data = _totals(cache, entries) | {"path": path.as_posix(), "added": added}
    text = f"Verified `{path}`: {len(new)} of {_count([*new, *known])} new here"
    return CommandResult(remark=text, data=data)


def explained(work: Callable[[], CommandResult], is_wanted: bool) -> CommandResult:
    """What a command gives, and with it, where that is wanted, what the cache had."""
    if not is_wanted:
        return work()
    from tripybuild.cache.explanation import (  # noqa: PLC0415
        Explanation,
        explain_lookups,
        known_records,
    )
    from tripybuild.cache.lookups import LookupOutcome, listen  # noqa: PLC0415
    from tripybuild.cache.store import Cache  # noqa: PLC0415

    def data_of(each: Explanation) -> dict[str, Any]:
        near = None if each.nearest is None else str(each.nearest.key)
        differences = [{"what": d.what, "now": d.now, "then": d.then} for d in each.differences]
        said = {"kind": each.lookup.key.kind, "key": str(each.lookup.key), "subject": each.subject}
        said |= {"outcome": str(each.lookup.outcome), "reason": each.reason}
        return said | {"nearest": near, "differences": differences}

    known = known_records(Cache())
    with listen() as lookups:
        result = work()
    found = explain_lookups(lookups, known)
    counts = {each: sum(e.lookup.outcome is each for e in found) for each in LookupOutcome}
    shown = (f"{n} {PLURALS.get(each, each) if n > 1 else each}" for each, n in counts.items() if n)
    total = ", ".join(shown)
    lines = [result.remark, f"Cache: {total or 'nothing was looked up: nothing was compiled'}"]
    lines += [f"  {each}" for each in found]
    data = {**result.data, "cache": [data_of(each) for each in found]}
    return replace(result, remark="\n".join(lines), data=data)


def _opened() -> tuple["PlanCache", list["CacheEntry"]]:
    """The user's cache, and what is in it."""
    from tripybuild.cache.catalog import find_entries  # noqa: PLC0415
    from tripybuild.cache.files import PlanCache  # noqa: PLC0415

    cache = PlanCache()
    return cache, find_entries(cache)


def _remove(chosen: Sequence["CacheEntry"], *, is_trial: bool) -> CommandResult:
    from tripybuild.cache.catalog import remove_entries, remove_leftovers  # noqa: PLC0415

    cache, entries = _opened()
    size = format_bytes(sum(each.size for each in chosen))
    if not is_trial:
        remove_entries(cache, chosen)
        remove_leftovers(cache)
        _, entries = _opened()
    data = _totals(cache, entries) | {"removed": [each.key for each in chosen]}
    verb = "Would remove" if is_trial else "Removed"
    left = len(entries) - len(chosen) * is_trial
    return CommandResult(
        "\n".join(_table(chosen)) if is_trial else "",
        f"{verb} {_count(chosen)} ({size}); {left} left",
        data,
    )


def _count(entries: Sequence[object]) -> str:
    return f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}"


def _totals(cache: "PlanCache", entries: Sequence["CacheEntry"]) -> dict[str, Any]:
    size = sum(each.size for each in entries)
    return {"folder": cache.folder.as_posix(), "bytes": size, "count": len(entries)}


def _chosen(
    entries: Iterable["CacheEntry"], kind: str | None, spec: str | None
) -> list["CacheEntry"]:
    found = [each for each in entries if kind is None or each.kind == kind]
    if spec is None:
        return found
    name = Path(spec).name
    return [e for e in found if e.record is not None and e.record.origin.get("spec") == name]


def _entry_data(entry: "CacheEntry") -> dict[str, Any]:
    record = entry.record
    parts = {} if record is None else {n: text for n, (_, text) in record.key.parts.items()}
    return {
        "key": entry.key,
        "kind": entry.kind,
        "path": entry.path.as_posix(),
        "bytes": entry.size,
        "used": entry.used,
        "created": None if record is None else record.created,
        "seconds": None if record is None else record.seconds,
        "origin": {} if record is None else dict(record.origin),
        "parts": parts,
    }


def _table(entries: Sequence["CacheEntry"]) -> list[str]:
    if not entries:
        return []
    rows = [COLUMNS]
    for each in entries:
        made_for = [] if each.record is None else [each.record.origin.get("spec", "")]
        if each.record is not None and "target" in each.record.key.parts:
            made_for.append(each.record.key.parts["target"][1])
        size, age = format_bytes(each.size), _age(each.used)
        rows.append((each.key[:SHOWN], each.kind, size, age, " ".join(filter(None, made_for))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]


def _age(moment: float) -> str:
    """How long ago a moment is, as a person says it; clocks may differ."""
    seconds = time.time() - moment
    if seconds < -UNITS["m"]:
        return "in the future"
    for name, unit in AGES:
        if seconds >= unit:
            count = int(seconds / unit)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
