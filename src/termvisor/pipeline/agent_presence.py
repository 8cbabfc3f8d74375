"""Decide which agent printed a text, from the times during which agents run in a pane. Pure."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.clock import NS
from termvisor.detection.packs.version_range import is_in_range
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import PaneId, RuntimeId

_EXIT_GRACE_NS = 10 * NS
"""Output read this long after its exit may still be the agent's."""
_START_GRACE_NS = NS
_LATE_DISCOVERY_GRACE_NS = 10 * NS
"""An agent without a known process was running before it was discovered."""


class AgentPresence(Struct, frozen=True, kw_only=True):
    """The time an agent process spent in a pane."""

    agent_process: RuntimeId
    agent: str
    version: str = ""
    began_at: int
    ended_at: int | None = None
    has_process: bool = True


PresenceLookup = Callable[[PaneId], Sequence[AgentPresence]]
"""Return the agents that run in a pane or exited there recently."""


class GatingOptions(Struct, frozen=True, kw_only=True):
    """Whether a rule about an agent requires an agent in the pane, and exactly that one."""

    is_enabled: bool = True
    is_exact: bool = True


def find_owner(rule: Rule, presences: Sequence[AgentPresence], at: int, gating: GatingOptions) -> AgentPresence | None:
    """Return the agent that a match at this time belongs to, or None."""
    candidates = [
        presence
        for presence in presences
        if _is_present(presence, at)
        and (presence.agent == rule.agent or (bool(rule.agent) and not gating.is_exact) or not rule.agent)
        and (presence.agent != rule.agent or is_in_range(presence.version, rule.versions))
    ]
    return max(candidates, key=lambda presence: (presence.agent == rule.agent, presence.began_at), default=None)


def _is_present(presence: AgentPresence, at: int) -> bool:
    early = _START_GRACE_NS if presence.has_process else _LATE_DISCOVERY_GRACE_NS
    return presence.began_at - early <= at and (presence.ended_at is None or at - presence.ended_at < _EXIT_GRACE_NS)
