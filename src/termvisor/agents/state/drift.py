"""Whether one agent's witnesses still speak as they used to: looks that know nothing, or no dialog any more, and an
agent that fell silent. Pure.

A person may open a menu that no rule knows, and an agent may think for long without a word; so what counts is what
lasts, and only beside another witness who goes on.
"""

from collections.abc import Iterator

from termvisor.agents.state.source_reading import Witness, witnesses
from termvisor.agents.state.source_slots import Ledger, Slot
from termvisor.agents.state.thresholds import SECOND, Measure
from termvisor.model.agent.drift import DriftKind
from termvisor.model.agent.state import AgentState

LASTS = 60 * SECOND
_LOOKED_WITHIN = 90 * SECOND
_SCREEN = "screen"
_SEEN_WITHIN = 3 * SECOND
"""A dialog that stands for so long was looked at."""
_WAITING = ("waiting_approval", "waiting_input")


def signs(ledger: Ledger, agent: str, now: int, measure: Measure) -> list[tuple[DriftKind, int]]:
    """What is strange about it, and since when."""
    screen = ledger.slots.get(_SCREEN)
    if screen is None or screen.said is None or now - screen.heard_at > _LOOKED_WITHIN:
        return []
    found = witnesses(ledger, agent, now, measure)
    own = [one for one in found if one.source.tier == "deterministic" and one.slot.said is not None]
    return [*_strange(screen, own, now), *_silent(screen, own, found, now)]


def was_seen(ledger: Ledger, waited: AgentState, until: int) -> bool | None:
    """Whether its screen showed that it waited, as it told itself until then; None where that proves nothing."""
    screen, since = ledger.slots.get(_SCREEN), waited.since
    if waited.value not in _WAITING or waited.evidence_mode != "deterministic" or since is None:
        return None
    if screen is None or screen.said is None or until - since < _SEEN_WITHIN:
        return None
    shown = [one for one in (screen.said, screen.look.before) if one is not None]
    if any(one.state in _WAITING for one in shown):
        return True
    return False if screen.said.at > since + SECOND else None


def _strange(screen: Slot, own: list[Witness], now: int) -> Iterator[tuple[DriftKind, int]]:
    said = screen.said
    if said is None or said.state != "unknown" or now - said.since < LASTS:
        return
    if any(one.slot.heard_at >= said.since for one in own):
        yield "strange_screens", said.since


def _silent(screen: Slot, own: list[Witness], found: list[Witness], now: int) -> Iterator[tuple[DriftKind, int]]:
    """Ends that are not told are known holes of some sources; work that is not told is none."""
    look = next((one for one in found if one.source.name == _SCREEN and one.is_usable), None)
    if look is None or look.state != "running" or not own or any(one.state == "running" for one in own):
        return
    heard = max(one.slot.heard_at for one in own)
    since = max(heard, look.since)
    if now - since >= LASTS and (screen.look.moved_at or 0) > heard:
        yield "silent_signals", since
