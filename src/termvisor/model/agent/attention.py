"""Who needs a person, most urgent first; each need is told once.

A need has a key that stays the same for as long as the need does, so whoever tells people knows what they already told.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import AgentState
from termvisor.model.ids import PaneId, RuntimeId

NeedKind = Literal["approve", "answer", "log_in", "see_error", "look", "wait_for_limit", "review"]
NEED_KINDS_BY_URGENCY: tuple[NeedKind, ...] = (
    "approve",
    "answer",
    "log_in",
    "see_error",
    "look",
    "wait_for_limit",
    "review",
)
"""By what waiting costs: an agent that stands still for one word comes first."""
ACTION_NEED_KINDS: frozenset[NeedKind] = frozenset(("approve", "answer", "log_in", "see_error", "look"))
"""Needs that only a person can end."""


class AttentionNeed(Struct, frozen=True, kw_only=True):
    runtime: RuntimeId
    pane: PaneId
    kind: NeedKind
    since: int | None = None
    until: int | None = None
    """When it ends by itself, where that is known."""

    @property
    def key(self) -> tuple[RuntimeId, NeedKind, int | None]:
        return self.runtime, self.kind, self.since

    @property
    def is_action(self) -> bool:
        return self.kind in ACTION_NEED_KINDS


def find_need(state: AgentState) -> AttentionNeed | None:
    """What this agent needs of a person, if anything."""
    kind = _classify_need(state)
    if kind is None or state.presence == "unmanaged":
        return None
    doubt = state.flags.contradicted
    since = doubt.since if kind == "look" and doubt is not None else state.since
    until = state.flags.resets_at if kind == "wait_for_limit" else None
    return AttentionNeed(runtime=state.runtime, pane=state.pane, kind=kind, since=since, until=until)


def list_needs(states: Iterable[AgentState]) -> list[AttentionNeed]:
    """All needs; of one kind those that wait longest come first."""
    found = [wanted for state in states if (wanted := find_need(state)) is not None]
    return sorted(found, key=lambda one: (NEED_KINDS_BY_URGENCY.index(one.kind), one.since or 0, one.runtime))


def find_new_needs(before: Iterable[AttentionNeed], after: Iterable[AttentionNeed]) -> list[AttentionNeed]:
    """The needs that were not there before."""
    told = {one.key for one in before}
    return [one for one in after if one.key not in told]


def _classify_need(state: AgentState) -> NeedKind | None:
    flags = state.flags
    if state.value == "waiting_approval":
        return "approve"
    if state.value == "waiting_input":
        return "answer"
    if flags.auth_needed:
        return "log_in"
    if flags.usage_limited and state.value != "running":
        return "wait_for_limit"
    if state.value == "error":
        return "see_error"
    if flags.contradicted is not None and flags.contradicted.state.startswith("waiting"):
        return "look"
    return "review" if state.value == "completed" else None
