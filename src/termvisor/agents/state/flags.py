"""Flags beside the state: a usage limit, a compaction, a missing login.

Of all that was said of a flag the newest counts. A look says what is on the screen now: a flag that it no longer shows
is not held against anybody, and an old text that is still on the screen is as old as its first sight.
"""

from collections.abc import Iterable

from msgspec import Struct

from termvisor.model.agent.signal import SILENT, FlagsTold, Signal
from termvisor.model.agent.state import Flags, StateName
from termvisor.model.detection.reset_time import over_at

NAMES = ("usage_limited", "compacting", "auth_needed")


class FlagTold(Struct, frozen=True):
    """``since``: when it was said, or first seen."""

    since: int
    is_set: bool
    resets_at: int | None = None


Told = dict[str, FlagTold]


def after(told: Told, signal: Signal) -> Told:
    """What a source says of flags after this signal."""
    if signal.tier == "heuristic":
        return _shown(told, signal) if signal.kind in ("state", "no_agent") else told
    if signal.state == "completed":
        told = dict.fromkeys(NAMES, FlagTold(signal.ingested_at, False))
    return told if signal.flags == SILENT else {**told, **_new(signal)}


def _shown(told: Told, signal: Signal) -> Told:
    """Only what is on the screen now; what was there before keeps its age."""
    return {name: told.get(name, new) for name, new in _new(signal).items() if new.is_set}


def _new(signal: Signal) -> Told:
    said = {name: _of(signal.flags, name) for name in NAMES}
    return {
        name: FlagTold(signal.ingested_at, is_set, signal.flags.resets_at if name == "usage_limited" else None)
        for name, is_set in said.items()
        if is_set is not None
    }


def _of(flags: FlagsTold, name: str) -> bool | None:
    is_set: bool | None = getattr(flags, name)
    return is_set


def holding(value: StateName, sources: Iterable[Told], now: int) -> Flags:
    """The flags beside this state, from sources that are still believed. To compact is work: else it is over.

    A limit that told its end is over then, whatever was said last; one that told only the minute, when that is past.
    """
    newest: Told = {}
    for told in sources:
        for name, flag in told.items():
            if name not in newest or flag.since > newest[name].since:
                newest[name] = flag
    limit = newest.get("usage_limited", _UNSAID)
    is_limited = limit.is_set and (limit.resets_at is None or now < over_at(limit.resets_at))
    return Flags(
        usage_limited=is_limited,
        resets_at=limit.resets_at if is_limited else None,
        compacting=value == "running" and newest.get("compacting", _UNSAID).is_set,
        auth_needed=newest.get("auth_needed", _UNSAID).is_set,
    )


def lasting(told: Told) -> Told:
    """What holds though its source fell silent: a limit that told its end."""
    return {name: flag for name, flag in told.items() if flag.resets_at is not None}


_UNSAID = FlagTold(0, False)


def deadlines(told: Told) -> list[int]:
    return [over_at(flag.resets_at) for flag in told.values() if flag.resets_at is not None]
