"""A Stay is the time that an agent spends in a pane: what decides whether a text there can be its own. Pure."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.clock import NS
from termvisor.detection.packs.version_range import is_in_range
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import PaneId, RuntimeId

_EXIT_GRACE_NS = 10 * NS
"""For so long after its end a text may still be the agent's."""
_START_GRACE_NS = NS
_LATE_DISCOVERY_GRACE_NS = 10 * NS
"""An agent whose process is not known was there before somebody saw it."""


class AgentPresence(Struct, frozen=True, kw_only=True):
    agent_process: RuntimeId
    agent: str
    version: str = ""
    began_at: int
    ended_at: int | None = None
    has_process: bool = True


PresenceLookup = Callable[[PaneId], Sequence[AgentPresence]]
"""Who is in a pane, and who just left it."""


class GatingOptions(Struct, frozen=True, kw_only=True):
    """Whether a rule about an agent asks for one in the pane, and for that very one."""

    is_enabled: bool = True
    is_exact: bool = True


def find_owner(rule: Rule, presences: Sequence[AgentPresence], at: int, gating: GatingOptions) -> AgentPresence | None:
    """The agent whose text it is at this instant, of those that the rule is about."""
    fitting = [
        stay
        for stay in presences
        if _is_present(stay, at)
        and (stay.agent == rule.agent or (bool(rule.agent) and not gating.is_exact) or not rule.agent)
        and (stay.agent != rule.agent or is_in_range(stay.version, rule.versions))
    ]
    return max(fitting, key=lambda stay: (stay.agent == rule.agent, stay.began_at), default=None)


def _is_present(presence: AgentPresence, at: int) -> bool:
    early = _START_GRACE_NS if presence.has_process else _LATE_DISCOVERY_GRACE_NS
    return presence.began_at - early <= at and (presence.ended_at is None or at - presence.ended_at < _EXIT_GRACE_NS)
