"""A Glance is what a screen said of its agent. Only what is news is stored: looks are many, and mostly say the same."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.clock import NS
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.signal import Signal

_REPEAT_AFTER_NS = 5 * NS
_ACTIVE_SAMPLE_INTERVAL_NS = 2 * NS
"""How far apart looks are while a pane moves. That is when something changes, so rest is measured by it."""


class ClassifiedScreen(Struct, kw_only=True):
    rows: tuple[str, ...]
    reading: ScreenReading
    at: int
    stored_at: int = 0
    """When a look that said the same was last stored."""


def is_news(last: ClassifiedScreen | None, now: ClassifiedScreen, interval_ns: int) -> bool:
    """Another state, or the same for so long that it is time to say so again; the next look comes after ``pause``."""
    if last is None or _get_comparable_fields(last.reading) != _get_comparable_fields(now.reading):
        return True
    return abs(now.at - last.stored_at) >= max(_REPEAT_AFTER_NS, interval_ns)  # the clock may have been set back


def build_screen_signal(
    agent_process: AgentProcess, classified_screen: ClassifiedScreen, moved_at: int | None
) -> Signal:
    """Of an agent that is known by its screen alone, a strange screen says that there may be none."""
    seen = classified_screen.reading
    is_absent = not agent_process.pid and seen.state == "unknown"
    return Signal(
        source="screen",
        tier="heuristic",
        agent=agent_process.agent,
        runtime=agent_process.id,
        event_at=classified_screen.at,
        ingested_at=classified_screen.at,
        dedupe_key=f"screen@{classified_screen.at}",
        kind="no_agent" if is_absent else "state",
        state=None if is_absent else seen.state,
        reason="unknown_screen" if seen.state == "unknown" and not is_absent else None,
        flags=seen.flags,
        tasks=None if seen.tasks is None else tuple(f"shown {at + 1}" for at in range(seen.tasks)),
        moved_at=moved_at,
        look_interval=_ACTIVE_SAMPLE_INTERVAL_NS,
        payload={**seen.details, "rule": seen.rule} if seen.rule else dict(seen.details),
        confidence=min(1.0, max(0.0, seen.confidence)),
    )


def _get_comparable_fields(seen: ScreenReading) -> tuple[object, ...]:
    return seen.state, seen.rule, seen.flags, seen.tasks
