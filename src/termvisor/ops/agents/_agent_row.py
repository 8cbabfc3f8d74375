"""What a listing says of the agent in a pane: its state, how that is known, what it needs, and what it used.

Invariant: a pane without an agent has no state, and a state that is not known is told with its reason, never as rest.
"""

from typing import Any

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.agent.attention import NeedKind
from termvisor.model.agent.identification import Signature, SignatureClass, SignatureInputs, SignatureReason
from termvisor.model.agent.session import AgentView, Usage
from termvisor.model.agent.state import Confidence, EvidenceMode, Flags, Presence, StateName, UnknownReason
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.panes._listing import PaneIdentity, age_of, identity, instant
from termvisor.ops.render.text import Column, age, counted
from termvisor.redaction import redact

STYLES: dict[StateName, str] = {
    "error": "red",
    "waiting_approval": "yellow",
    "waiting_input": "yellow",
    "running": "green",
    "completed": "cyan",
    "idle": "dim",
    "unknown": "dim",
}
NEEDS: dict[NeedKind, str] = {
    "approve": "asks for permission",
    "answer": "asks a question",
    "log_in": "must be logged in",
    "see_error": "stopped with an error",
    "look": "its screen asks something that it did not tell",
    "wait_for_limit": "waits for its usage limit to end",
    "review": "has finished",
}
"""What each need is, after the agent's name."""


class ContradictionItem(Struct, frozen=True, kw_only=True):
    """``by`` is the source that has been seeing ``state`` since then."""

    since: str
    age: float
    by: str
    state: StateName


class FlagItem(Struct, frozen=True, kw_only=True):
    """What is true beside the state. ``resets_in`` is seconds until the usage limit ends. ``ambiguous``: something that
    was told may be about this agent or about another in its folder; it was left out, and `explain` says more.
    """

    usage_limited: bool
    resets_at: str | None
    resets_in: float | None
    compacting: bool
    auth_needed: bool
    subtasks: int
    contradicted: ContradictionItem | None
    ambiguous: bool


class AgentRow(Struct, frozen=True, kw_only=True):
    """A pane and the agent in it. Without one, ``agent`` and ``state`` are null and ``presence`` is `unmanaged`.

    ``evidence_mode`` is the tier of what the state rests on; `deterministic` is the agent's own word. ``reason`` says
    why a state is `unknown`. ``cost`` is US dollars, by the agent's word or, where ``cost_is_estimated``, by the
    setting `agent_prices`; what nobody told is null. ``signature_*`` say why the pane is taken for an agent's, or why
    it is not: which agent its process, command, screen and title name.
    """

    identity: PaneIdentity
    presence: Presence
    agent: str | None
    runtime: int | None
    state: StateName | None
    reason: UnknownReason | None
    evidence_mode: EvidenceMode
    source: str
    confidence: Confidence | None
    state_since: str | None
    state_age: float | None
    state_version: int
    last_event: str | None
    needs: NeedKind | None
    needs_action: bool
    flags: FlagItem | None
    agent_title: str
    model: str
    tokens: int | None
    cost: float | None
    cost_is_estimated: bool
    context_used: float | None
    context_tokens: int | None
    signature_class: SignatureClass
    signature_reason: SignatureReason
    signature_confidence: float
    signature_inputs: SignatureInputs


def row(pane: PaneView, view: AgentView | None, now: int) -> AgentRow:
    return AgentRow(**fields(pane, view, now))


def fields(pane: PaneView, view: AgentView | None, now: int, seen: Signature | None = None) -> dict[str, Any]:
    """By name, for rows that say more of a pane; ``seen`` is its signature where there is no agent."""
    if view is None:
        return {"identity": identity(pane), **_NOBODY, **_signed(seen or Signature())}
    return {"identity": identity(pane), **told_of(view, now)}


def told_of(view: AgentView, now: int) -> dict[str, Any]:
    """All but where it is."""
    state, session = view.state, view.session
    used = session.usage if session is not None else Usage()
    return {
        "presence": state.presence,
        "agent": state.agent,
        "runtime": state.runtime,
        "state": state.value,
        "reason": state.reason,
        "evidence_mode": state.evidence_mode,
        "source": state.source,
        "confidence": state.confidence,
        "state_since": instant(state.since),
        "state_age": age_of(state.since, now),
        "state_version": view.version,
        "last_event": instant(state.last_event),
        "needs": view.need,
        "needs_action": view.needs_action,
        "flags": flags(state.flags, now),
        "agent_title": redact(view.title),
        "model": redact(session.model) if session is not None else "",
        "tokens": used.total,
        "cost": used.cost,
        "cost_is_estimated": used.is_estimated,
        "context_used": used.context_used,
        "context_tokens": used.context_tokens,
        **_signed(view.signature),
    }


def _signed(signature: Signature) -> dict[str, Any]:
    return {name: getattr(signature, name) for name in Signature.__struct_fields__ if name != "agent"}


_NOBODY: dict[str, Any] = {
    name: None for name in AgentRow.__struct_fields__ if name not in ("identity", "presence", "evidence_mode")
} | {
    "presence": "unmanaged",
    "evidence_mode": "none",
    "source": "",
    "state_version": 0,
    "needs_action": False,
    "agent_title": "",
    "model": "",
    "cost_is_estimated": False,
}


def flags(told: Flags, now: int) -> FlagItem:
    doubt = told.contradicted
    return FlagItem(
        usage_limited=told.usage_limited,
        resets_at=instant(told.resets_at),
        resets_in=None if told.resets_at is None else round(max(0, told.resets_at - now) / NS, 3),
        compacting=told.compacting,
        auth_needed=told.auth_needed,
        subtasks=told.subtasks,
        contradicted=None
        if doubt is None
        else ContradictionItem(
            since=instant(doubt.since) or "", age=age_of(doubt.since, now) or 0.0, by=doubt.by, state=doubt.state
        ),
        ambiguous=told.ambiguous,
    )


def who(item: AgentRow) -> str:
    """`pane 7 (work %5), claude_code`."""
    return f"pane {item.identity.id} ({item.identity.session_name} {item.identity.pane_id}), {item.agent}"


def spoken(state: StateName | None, reason: UnknownReason | None = None) -> str:
    """`waiting approval`, `unknown (no signal)`; empty without an agent."""
    if state is None:
        return ""
    return state.replace("_", " ") + (f" ({reason.replace('_', ' ')})" if reason is not None else "")


def beside(told: FlagItem | None) -> list[str]:
    """The flags that are set, in words."""
    if told is None:
        return []
    found = []
    if told.usage_limited:
        found.append("usage limit" + (f" for {age(told.resets_in)}" if told.resets_in is not None else ""))
    found += ["compacting"] * told.compacting + ["needs a login"] * told.auth_needed
    found += [f"{counted(told.subtasks, 'subtask')}"] * bool(told.subtasks)
    if doubt := told.contradicted:
        found.append(f"but {doubt.by} shows {spoken(doubt.state)} for {age(doubt.age)}")
    return found + ["ambiguous"] * told.ambiguous


def state_cell(item: AgentRow) -> str:
    """`! waiting approval`, `running, 2 subtasks`; the mark stands where a person must act."""
    mark = "! " if item.needs_action else ""
    return mark + ", ".join([spoken(item.state, item.reason), *beside(item.flags)])


def painted(item: AgentRow) -> str:
    """The colour of its state."""
    return STYLES[item.state] if item.state is not None else ""


def _cost(item: Any) -> str:
    """Of whatever has one: an agent, or several in one place."""
    return "-" if item.cost is None else money(item.cost, is_estimated=item.cost_is_estimated)


def money(dollars: float | None, *, is_estimated: bool = False) -> str:
    """`$1.20`, or `~$1.20` for an estimate."""
    return "unknown" if dollars is None else f"{'~' * is_estimated}${dollars:.2f}"


AGENT = Column("AGENT", lambda item: item.agent or "-")
STATE_WIDTH = len("! waiting approval")
"""However short space is, a state is read in full."""
STATE = Column("STATE", state_cell, may_shrink=True, paint=painted, narrowest=STATE_WIDTH)
AGE = Column("AGE", lambda item: age(item.state_age), is_right=True)
MODEL = Column("MODEL", lambda item: item.model or "-", may_shrink=True, is_extra=True)
TIER = Column("TIER", lambda item: item.evidence_mode if item.agent else "-", is_extra=True, style="dim")
TOKENS = Column("TOKENS", lambda item: "-" if item.tokens is None else f"{item.tokens:,}", is_right=True, is_extra=True)
CONTEXT = Column(
    "CONTEXT",
    lambda item: "-" if item.context_used is None else f"{item.context_used:.0%}",
    is_right=True,
    is_extra=True,
)
COST = Column("COST", _cost, is_right=True, is_extra=True)
USED = (MODEL, TOKENS, CONTEXT, COST, TIER)
"""What it runs on and has used, and how its state is known: where there is room."""
