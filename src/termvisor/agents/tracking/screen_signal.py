"""Build signals from classified screens. Only changes and occasional repeats are stored: most screens are equal."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.signal import Signal

_REPEAT_AFTER_NS = 5 * NS
_ACTIVE_SAMPLE_INTERVAL_NS = 2 * NS
"""The interval between samples of a changing pane; the rest delay is measured by it."""


class ClassifiedScreen(Struct, kw_only=True):
    rows: tuple[str, ...]
    reading: ScreenReading
    at: int
    stored_at: int = 0
    """When a screen with the same reading was last stored."""


def is_news(last: ClassifiedScreen | None, now: ClassifiedScreen, interval_ns: int) -> bool:
    """Return True if the reading changed, or is due to be repeated; the next sample follows after ``interval_ns``."""
    if last is None or _get_comparable_fields(last.reading) != _get_comparable_fields(now.reading):
        return True
    return abs(now.at - last.stored_at) >= max(_REPEAT_AFTER_NS, interval_ns)  # abs: the clock may have been set back


def build_screen_signal(
    agent_process: AgentProcess, classified_screen: ClassifiedScreen, moved_at: int | None
) -> Signal:
    """Build the signal of a screen; an unknown screen of a remote agent means that it may be gone."""
    reading = classified_screen.reading
    is_absent = not agent_process.pid and reading.state == "unknown"
    return Signal(
        source="screen",
        tier="heuristic",
        agent=agent_process.agent,
        runtime=agent_process.id,
        event_at=classified_screen.at,
        ingested_at=classified_screen.at,
        dedupe_key=f"screen@{classified_screen.at}",
        kind="no_agent" if is_absent else "state",
        state=None if is_absent else reading.state,
        reason="unknown_screen" if reading.state == "unknown" and not is_absent else None,
        flags=reading.flags,
        tasks=None if reading.tasks is None else tuple(f"shown {at + 1}" for at in range(reading.tasks)),
        moved_at=moved_at,
        look_interval=_ACTIVE_SAMPLE_INTERVAL_NS,
        payload={**reading.details, "rule": reading.rule} if reading.rule else dict(reading.details),
        confidence=min(1.0, max(0.0, reading.confidence)),
    )


def _get_comparable_fields(reading: ScreenReading) -> tuple[object, ...]:
    return reading.state, reading.rule, reading.flags, reading.tasks
