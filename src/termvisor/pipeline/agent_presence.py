"""A Stay is the time that an agent spends in a pane: what decides whether a text there can be its own. Pure."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from termvisor.clock import NS
from termvisor.detection.packs.version_range import fits
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import PaneId, RuntimeId

_LAST_WORDS = 10 * NS
"""For so long after its end a text may still be the agent's."""
_FIRST_WORDS = NS
_FOUND_LATE = 10 * NS
"""An agent whose process is not known was there before somebody saw it."""


class Stay(Struct, frozen=True, kw_only=True):
    runtime: RuntimeId
    agent: str
    version: str = ""
    began_at: int
    ended_at: int | None = None
    has_process: bool = True


Stays = Callable[[PaneId], Sequence[Stay]]
"""Who is in a pane, and who just left it."""


class Gating(Struct, frozen=True, kw_only=True):
    """Whether a rule about an agent asks for one in the pane, and for that very one."""

    is_on: bool = True
    is_exact: bool = True


def whose(rule: Rule, stays: Sequence[Stay], at: int, gating: Gating) -> Stay | None:
    """The agent whose text it is at this instant, of those that the rule is about."""
    fitting = [
        stay
        for stay in stays
        if _is_there(stay, at)
        and (stay.agent == rule.agent or (bool(rule.agent) and not gating.is_exact) or not rule.agent)
        and (stay.agent != rule.agent or fits(stay.version, rule.versions))
    ]
    return max(fitting, key=lambda stay: (stay.agent == rule.agent, stay.began_at), default=None)


def _is_there(stay: Stay, at: int) -> bool:
    early = _FIRST_WORDS if stay.has_process else _FOUND_LATE
    return stay.began_at - early <= at and (stay.ended_at is None or at - stay.ended_at < _LAST_WORDS)
