"""Whether one agent's witnesses still speak as they used to: looks that know nothing, or no dialog any more, and an
agent that fell silent. Pure.

A person may open a menu that no rule knows, and an agent may think for long without a word; so what counts is what
lasts, and only beside another witness who goes on.
"""

from collections.abc import Iterator

from termvisor.agents.state.source_reading import SourceReading, read_sources
from termvisor.agents.state.source_slots import SourceSlot, SourceSlots
from termvisor.agents.state.thresholds import SECOND_NS, Thresholds
from termvisor.model.agent.drift import DriftKind
from termvisor.model.agent.state import AgentState

MIN_DRIFT_NS = 60 * SECOND_NS
_MAX_SCREEN_AGE_NS = 90 * SECOND_NS
_SCREEN_SOURCE = "screen"
_MIN_DIALOG_NS = 3 * SECOND_NS
"""A dialog that stands for so long was looked at."""
_WAITING_STATES = ("waiting_approval", "waiting_input")


def find_drift(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> list[tuple[DriftKind, int]]:
    """What is strange about it, and since when."""
    screen = source_slots.slots.get(_SCREEN_SOURCE)
    if screen is None or screen.said is None or now - screen.heard_at > _MAX_SCREEN_AGE_NS:
        return []
    found = read_sources(source_slots, agent, now, thresholds)
    own = [one for one in found if one.source.tier == "deterministic" and one.slot.said is not None]
    return [*_find_unknown_screen(screen, own, now), *_find_silent_sources(screen, own, found, now)]


def has_shown_dialog(source_slots: SourceSlots, waiting_state: AgentState, until: int) -> bool | None:
    """Whether its screen showed that it waited, as it told itself until then; None where that proves nothing."""
    screen, since = source_slots.slots.get(_SCREEN_SOURCE), waiting_state.since
    if waiting_state.value not in _WAITING_STATES or waiting_state.evidence_mode != "deterministic" or since is None:
        return None
    if screen is None or screen.said is None or until - since < _MIN_DIALOG_NS:
        return None
    shown = [one for one in (screen.said, screen.look.before) if one is not None]
    if any(one.state in _WAITING_STATES for one in shown):
        return True
    return False if screen.said.at > since + SECOND_NS else None


def _find_unknown_screen(
    screen: SourceSlot, native_readings: list[SourceReading], now: int
) -> Iterator[tuple[DriftKind, int]]:
    said = screen.said
    if said is None or said.state != "unknown" or now - said.since < MIN_DRIFT_NS:
        return
    if any(one.slot.heard_at >= said.since for one in native_readings):
        yield "strange_screens", said.since


def _find_silent_sources(
    screen: SourceSlot, native_readings: list[SourceReading], readings: list[SourceReading], now: int
) -> Iterator[tuple[DriftKind, int]]:
    """Ends that are not told are known holes of some sources; work that is not told is none."""
    look = next((one for one in readings if one.source.name == _SCREEN_SOURCE and one.is_usable), None)
    if (
        look is None
        or look.state != "running"
        or not native_readings
        or any(one.state == "running" for one in native_readings)
    ):
        return
    heard = max(one.slot.heard_at for one in native_readings)
    since = max(heard, look.since)
    if now - since >= MIN_DRIFT_NS and (screen.look.moved_at or 0) > heard:
        yield "silent_signals", since
