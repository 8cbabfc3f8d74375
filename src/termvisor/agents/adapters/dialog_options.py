"""The choices of a dialog, and the keys that lead to one of them while exactly this dialog is shown.

No answer is ever a bare Enter: what is pointed at first differs. A Press carries the rows for which it was made, and
is void when the screen ends otherwise at that moment.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from termvisor.agents.adapters.adapter import Seen

Decision = Literal["allow", "deny"]
LEAVE_PAUSE = 0.4
"""Seconds between the two keys that end some agents: both within a second, and the first one must have been seen."""
_POINTER = re.compile("[●❯›→]")
_CHOICE = re.compile(r"\s*(?P<pointer>[●❯›→] )?\s*(?P<number>\d{1,2})\. +(?P<label>\S.*?)\s*")


class Press(Struct, frozen=True, kw_only=True):
    """Keys by tmux' names, one after the other, while the screen still matches ``rule`` and shows ``rows``."""

    keys: tuple[str, ...]
    rule: str
    rows: tuple[str, ...] = ()
    """The dialog's rows, as they are shown, without blank ones; none where a spinner turns in them."""
    pause: float = 0.0
    """Seconds between two keys."""


RESTS = ("idle", "completed", "error")
"""States in which an agent waits for a prompt, and nothing is lost when it leaves."""


class Choice(Struct, frozen=True):
    label: str
    is_pointed_at: bool


def unpointed(rows: Sequence[str]) -> tuple[str, ...]:
    """The rows of a dialog, whichever of its choices is pointed at."""
    return tuple(_POINTER.sub(" ", row).rstrip() for row in rows)


def choices(rows: Sequence[str]) -> list[Choice]:
    """The numbered ones of a dialog's rows; none where their numbers are not 1, 2, 3 …"""
    found = [match for row in rows if (match := _CHOICE.fullmatch(row))]
    is_whole = [int(match["number"]) for match in found] == list(range(1, len(found) + 1))
    return [Choice(match["label"], bool(match["pointer"])) for match in found] if is_whole else []


def way_to(label: str, offered: Sequence[Choice]) -> tuple[str, ...] | None:
    """From the choice that is pointed at to this very one, then Enter; None where either is not certain."""
    here = [number for number, one in enumerate(offered) if one.is_pointed_at]
    there = [number for number, one in enumerate(offered) if one.label == label]
    if len(here) != 1 or len(there) != 1:
        return None
    steps = there[0] - here[0]
    return (*(("Down",) * steps if steps > 0 else ("Up",) * -steps), "Enter")


def chosen(seen: Seen, box: Sequence[tuple[str, str]], label: str) -> Press | None:
    """The keys that pick this very choice of a framed dialog."""
    rows = tuple(row for row, _ in box)
    keys = way_to(label, choices([inner for _, inner in box])) if seen.state.startswith("waiting_") else None
    return Press(keys=keys, rule=seen.rule, rows=rows) if keys and rows else None


def leaving(seen: Seen, written: str | None, keys: tuple[str, ...]) -> Press | None:
    """These keys end an agent that rests; with something in its composer the first one would only delete that."""
    may_leave = seen.state in RESTS and written is not None
    return Press(keys=keys, rule=seen.rule, pause=LEAVE_PAUSE) if may_leave else None


def answered(seen: Seen, box: Sequence[tuple[str, str]], yes: Mapping[str, str], decision: Decision) -> Press | None:
    """The keys that allow, this once, or refuse what a framed dialog asks; None where that cannot be said surely.

    ``yes`` names, for each rule, the choice that allows this once and nothing for later.
    """
    rows = tuple(row for row, _ in box)
    if seen.state != "waiting_approval" or not rows:
        return None
    if decision == "deny":
        return Press(keys=("Escape",), rule=seen.rule, rows=rows)
    keys = way_to(yes.get(seen.name, ""), choices([inner for _, inner in box]))
    return Press(keys=keys, rule=seen.rule, rows=rows) if keys else None
