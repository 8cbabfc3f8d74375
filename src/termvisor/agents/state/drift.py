"""Detect drift of one agent's sources: screens or dialogs that no rule matches any more, and native sources that
stopped reporting. Pure.

A user may open an unknown menu, and an agent may think for a long time without a signal; so only what lasts counts, and
only while another source continues to report.
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
"""A dialog that is open for this long was on at least one captured screen."""
_WAITING_STATES = ("waiting_approval", "waiting_input")


def find_drift(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> list[tuple[DriftKind, int]]:
    """Return the kinds of drift and since when they last."""
    screen = source_slots.slots.get(_SCREEN_SOURCE)
    if screen is None or screen.statement is None or now - screen.heard_at > _MAX_SCREEN_AGE_NS:
        return []
    readings = read_sources(source_slots, agent, now, thresholds)
    native = [one for one in readings if one.source.tier == "deterministic" and one.slot.statement is not None]
    return [*_find_unknown_screen(screen, native, now), *_find_silent_sources(screen, native, readings, now)]


def has_shown_dialog(source_slots: SourceSlots, waiting_state: AgentState, until: int) -> bool | None:
    """Return True if the screen showed the dialog that the agent reported until then; None if that is unproven."""
    screen, since = source_slots.slots.get(_SCREEN_SOURCE), waiting_state.since
    if waiting_state.value not in _WAITING_STATES or waiting_state.evidence_mode != "deterministic" or since is None:
        return None
    if screen is None or screen.statement is None or until - since < _MIN_DIALOG_NS:
        return None
    shown = [one for one in (screen.statement, screen.screen_history.before) if one is not None]
    if any(one.state in _WAITING_STATES for one in shown):
        return True
    return False if screen.statement.at > since + SECOND_NS else None


def _find_unknown_screen(
    screen: SourceSlot, native_readings: list[SourceReading], now: int
) -> Iterator[tuple[DriftKind, int]]:
    statement = screen.statement
    if statement is None or statement.state != "unknown" or now - statement.since < MIN_DRIFT_NS:
        return
    if any(one.slot.heard_at >= statement.since for one in native_readings):
        yield "strange_screens", statement.since


def _find_silent_sources(
    screen: SourceSlot, native_readings: list[SourceReading], readings: list[SourceReading], now: int
) -> Iterator[tuple[DriftKind, int]]:
    """Yield a drift if the screen shows work that no native source reports (a missed end is a known flaw)."""
    reading = next((one for one in readings if one.source.name == _SCREEN_SOURCE and one.is_usable), None)
    if (
        reading is None
        or reading.state != "running"
        or not native_readings
        or any(one.state == "running" for one in native_readings)
    ):
        return
    captured_at = max(one.slot.heard_at for one in native_readings)
    since = max(captured_at, reading.since)
    if now - since >= MIN_DRIFT_NS and (screen.screen_history.moved_at or 0) > captured_at:
        yield "silent_signals", since
