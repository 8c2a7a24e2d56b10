"""Quantities as people read them: counts with letters, times with units."""


def format_count(number: int, large: str = "BTP") -> str:
    """A number for a reader, with the letters of a billion and more: `110.1 M`."""
    value, unit = float(number), ""
    for larger in ("k", "M", *large):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}" if unit else str(number)


def format_seconds(seconds: float) -> str:
    """A time for a reader, by three digits: `38.9 ms`."""
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
