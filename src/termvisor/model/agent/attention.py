"""Find the agents that need the user, most urgent first."""

from collections.abc import Iterable
from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.agent.state import AgentState
from termvisor.model.ids import PaneId, RuntimeId

NeedKind = Literal["approve", "answer", "log_in", "see_error", "look", "wait_for_limit", "review"]
NEED_KINDS_BY_URGENCY: tuple[NeedKind, ...] = get_args(NeedKind)
"""Sorted by the cost of waiting: an agent blocked by a single answer comes first."""
ACTION_NEED_KINDS: frozenset[NeedKind] = frozenset(("approve", "answer", "log_in", "see_error", "look"))
"""Needs that only the user can end."""


class AttentionNeed(Struct, frozen=True, kw_only=True):
    runtime: RuntimeId
    pane: PaneId
    kind: NeedKind
    since: int | None = None
    until: int | None = None
    """When the need ends by itself, if known."""

    @property
    def is_action(self) -> bool:
        return self.kind in ACTION_NEED_KINDS


def find_need(state: AgentState) -> AttentionNeed | None:
    """Return what this agent needs from the user, if anything."""
    kind = _classify_need(state)
    if kind is None or state.presence == "unmanaged":
        return None
    contradicted = state.flags.contradicted
    since = contradicted.since if kind == "look" and contradicted is not None else state.since
    until = state.flags.resets_at if kind == "wait_for_limit" else None
    return AttentionNeed(runtime=state.runtime, pane=state.pane, kind=kind, since=since, until=until)


def list_needs(states: Iterable[AgentState]) -> list[AttentionNeed]:
    """Return all needs by urgency; within a kind, the longest waiting first."""
    needs = [need for state in states if (need := find_need(state)) is not None]
    return sorted(needs, key=lambda one: (NEED_KINDS_BY_URGENCY.index(one.kind), one.since or 0, one.runtime))


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
