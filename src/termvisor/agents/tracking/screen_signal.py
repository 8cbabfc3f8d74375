"""A Glance is what a screen said of its agent. Only what is news is stored: looks are many, and mostly say the same."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import Seen
from termvisor.clock import NS
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.signal import Signal

_AGAIN_AFTER = 5 * NS
_BRISK = 2 * NS
"""How far apart looks are while a pane moves. That is when something changes, so rest is measured by it."""


class Glance(Struct, kw_only=True):
    rows: tuple[str, ...]
    seen: Seen
    at: int
    told_at: int = 0
    """When a look that said the same was last stored."""


def is_news(last: Glance | None, now: Glance, pause: int) -> bool:
    """Another state, or the same for so long that it is time to say so again; the next look comes after ``pause``."""
    if last is None or _gist(last.seen) != _gist(now.seen):
        return True
    return abs(now.at - last.told_at) >= max(_AGAIN_AFTER, pause)  # the clock may have been set back


def signal(runtime: Runtime, glance: Glance, moved_at: int | None) -> Signal:
    """Of an agent that is known by its screen alone, a strange screen says that there may be none."""
    seen = glance.seen
    is_absent = not runtime.pid and seen.state == "unknown"
    return Signal(
        source="screen",
        tier="heuristic",
        agent=runtime.agent,
        runtime=runtime.id,
        event_at=glance.at,
        ingested_at=glance.at,
        dedupe_key=f"screen@{glance.at}",
        kind="no_agent" if is_absent else "state",
        state=None if is_absent else seen.state,
        reason="unknown_screen" if seen.state == "unknown" and not is_absent else None,
        flags=seen.flags,
        tasks=None if seen.tasks is None else tuple(f"shown {at + 1}" for at in range(seen.tasks)),
        moved_at=moved_at,
        look_interval=_BRISK,
        payload={**seen.details, "rule": seen.rule} if seen.rule else dict(seen.details),
        confidence=min(1.0, max(0.0, seen.confidence)),
    )


def _gist(seen: Seen) -> tuple[object, ...]:
    return seen.state, seen.rule, seen.flags, seen.tasks
