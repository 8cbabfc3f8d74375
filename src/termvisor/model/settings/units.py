"""Units of settings: a number counts in the unit of its setting, a text such as `7d` or `20GB` names its own."""

import re

SECONDS, MINUTES, DAYS, BYTES = ({"unit": name} for name in ("seconds", "minutes", "days", "bytes"))
"""Declared as ``extra`` of a setting."""
_DURATIONS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SIZES = {"B": 1} | {
    f"{letter}{suffix}": base**power
    for power, letter in enumerate("KMGT", 1)
    for suffix, base in (("", 1024), ("B", 1000), ("iB", 1024))
}
_BASES = {"seconds": 1, "minutes": 60, "days": 86_400}


def parse_quantity(text: str, unit: str) -> float | int | None:
    """Return a text with a unit as a number in ``unit``; None if it is not of that form."""
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)", text.strip())
    if parts is None:
        return None
    number, given = float(parts[1]), parts[2]
    if unit == "bytes":
        size = {name.lower(): factor for name, factor in _SIZES.items()}.get(given.lower())
        return None if size is None else int(number * size)
    seconds = _DURATIONS.get(given)
    return None if seconds is None else number * seconds / _BASES[unit]
