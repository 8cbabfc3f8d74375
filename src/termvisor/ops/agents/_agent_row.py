"""Build and format the row that listings show for the agent in a pane: state, evidence, need and usage.

Invariants: a pane without an agent has no state; an `unknown` state always has its reason and is never shown as idle.
"""

from typing import Any, ClassVar

from msgspec import Struct

from termvisor.clock import NS, compute_seconds_between, format_timestamp
from termvisor.model.agent.agent_process import AgentSignature, SignatureClass, SignatureInputs, SignatureReason
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.attention import NeedKind
from termvisor.model.agent.program_version import VersionStatus
from termvisor.model.agent.session import TokenUsage
from termvisor.model.agent.state import AgentFlags, Confidence, EvidenceMode, Presence, StateName, UnknownReason
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.panes._pane_reference import PaneIdentity, identify_pane
from termvisor.ops.render.results import compute_age, copy_fields, copy_values, format_optional_timestamp
from termvisor.ops.render.table import TableColumn
from termvisor.ops.render.text import format_age, pluralize
from termvisor.redaction import redact

STATE_STYLES: dict[StateName, str] = {
    "error": "red",
    "waiting_approval": "yellow",
    "waiting_input": "yellow",
    "running": "green",
    "completed": "cyan",
    "idle": "dim",
    "unknown": "dim",
}
# Predicates that follow the agent's name.
NEED_DESCRIPTIONS: dict[NeedKind, str] = {
    "approve": "asks for permission",
    "answer": "asks a question",
    "log_in": "must be logged in",
    "see_error": "stopped with an error",
    "look": "shows a prompt on its screen that it did not report",
    "wait_for_limit": "waits for its usage limit to reset",
    "review": "has finished",
}


class ContradictionItem(Struct, frozen=True, kw_only=True):
    """``by`` is the source that has shown ``state`` since the time ``since``."""

    detail_fields: ClassVar[tuple[str, ...]] = ("since",)

    since: str
    age: float
    by: str
    state: StateName


class FlagItem(Struct, frozen=True, kw_only=True):
    """Conditions beside the state. ``resets_in`` is seconds until the usage limit resets. ``ambiguous``: a signal may
    belong to this agent or to another one in its directory and was ignored; `explain` gives details.
    """

    usage_limited: bool = False
    resets_at: str | None = None
    resets_in: float | None = None
    compacting: bool = False
    auth_needed: bool = False
    subtasks: int = 0
    contradicted: ContradictionItem | None = None
    ambiguous: bool = False


class AgentRow(Struct, frozen=True, kw_only=True):
    """A pane and the agent in it. Without one, ``agent`` and ``state`` are null and ``presence`` is `unmanaged`.

    ``evidence_mode`` is the tier of the evidence for the state; `deterministic` means reported by the agent itself.
    ``reason`` says why a state is `unknown`. ``cost`` is US dollars as the agent reports it or, if
    ``cost_is_estimated``, computed from the setting `agent_prices`; null if unknown. ``signature_*`` say why the pane
    was or was not recognized as an agent: which agent its process, command, screen and title point to.
    ``agent_version`` is the version of the running program, empty if unknown; ``agent_version_status`` says whether its
    screens were recorded: `unseen` is older or newer than every recorded version.
    """

    detail_fields: ClassVar[tuple[str, ...]] = (
        *("presence", "runtime", "evidence_mode", "source", "confidence", "state_since", "state_version", "last_event"),
        *("needs_action", "agent_version", "agent_version_status", "model", "tokens", "cost", "cost_is_estimated"),
        *("context_used", "context_tokens", *AgentSignature.__struct_fields__[1:]),
    )

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
    flags: FlagItem = FlagItem()
    agent_title: str
    agent_version: str
    agent_version_status: VersionStatus | None
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


def build_agent_row(pane: PaneView, view: AgentView | None, now: int) -> AgentRow:
    return AgentRow(**build_row_fields(pane, view, now))


def build_row_fields(
    pane: PaneView, view: AgentView | None, now: int, signature: AgentSignature | None = None
) -> dict[str, Any]:
    """Return the fields of an AgentRow by name, for rows that extend it; ``signature`` is used if there is no agent."""
    if view is None:
        return {
            "identity": identify_pane(pane),
            **_NO_AGENT_FIELDS,
            **_build_signature_fields(signature or AgentSignature()),
        }
    return {"identity": identify_pane(pane), **build_agent_fields(view, now)}


def build_agent_fields(view: AgentView, now: int) -> dict[str, Any]:
    """Return the fields of an AgentRow except ``identity``."""
    state, session = view.state, view.session
    usage = session.usage if session is not None else TokenUsage()
    return {
        **copy_values(state, "presence", "agent", "runtime", "reason", "evidence_mode", "source", "confidence"),
        "state": state.value,
        "state_since": format_optional_timestamp(state.since),
        "state_age": compute_age(state.since, now),
        "state_version": view.version,
        "last_event": format_optional_timestamp(state.last_event),
        "needs": view.need,
        "needs_action": view.needs_action,
        "flags": build_flag_item(state.flags, now),
        "agent_title": redact(view.title),
        "agent_version": redact(view.program.version),
        "agent_version_status": view.program.status,
        "model": redact(session.model) if session is not None else "",
        "tokens": usage.total,
        "cost": usage.cost,
        "cost_is_estimated": usage.is_estimated,
        "context_used": usage.context_used,
        "context_tokens": usage.context_tokens,
        **_build_signature_fields(view.signature),
    }


def _build_signature_fields(signature: AgentSignature) -> dict[str, Any]:
    return copy_values(signature, *(name for name in AgentSignature.__struct_fields__ if name != "agent"))


# Derived from the struct, so that a new field cannot be forgotten here.
_NO_AGENT_FIELDS: dict[str, Any] = {
    name: None for name in AgentRow.__struct_fields__ if name not in ("identity", "presence", "evidence_mode")
} | {
    "presence": "unmanaged",
    "evidence_mode": "none",
    "source": "",
    "state_version": 0,
    "needs_action": False,
    "flags": FlagItem(),
    "agent_title": "",
    "agent_version": "",
    "model": "",
    "cost_is_estimated": False,
}


def build_flag_item(state_flags: AgentFlags, now: int) -> FlagItem:
    contradiction = state_flags.contradicted
    return copy_fields(
        FlagItem,
        state_flags,
        resets_at=format_optional_timestamp(state_flags.resets_at),
        resets_in=None if state_flags.resets_at is None else round(max(0, state_flags.resets_at - now) / NS, 3),
        contradicted=None
        if contradiction is None
        else copy_fields(
            ContradictionItem,
            contradiction,
            since=format_timestamp(contradiction.since),
            age=compute_seconds_between(contradiction.since, now),
        ),
    )


def describe_agent(item: AgentRow) -> str:
    """Format as `pane 7 (work %5), claude_code`."""
    return f"pane {item.identity.id} ({item.identity.session_name} {item.identity.pane_id}), {item.agent}"


def format_state(state: StateName | None, reason: UnknownReason | None = None) -> str:
    """Format as `waiting approval` or `unknown (no signal)`; empty without an agent."""
    if state is None:
        return ""
    return state.replace("_", " ") + (f" ({reason.replace('_', ' ')})" if reason is not None else "")


def list_flag_labels(flag_item: FlagItem) -> list[str]:
    """Return a label for each flag that is set."""
    labels = []
    if flag_item.usage_limited:
        labels.append(
            "usage limit" + (f" for {format_age(flag_item.resets_in)}" if flag_item.resets_in is not None else "")
        )
    labels += ["compacting"] * flag_item.compacting + ["login required"] * flag_item.auth_needed
    labels += [pluralize(flag_item.subtasks, "subtask")] * bool(flag_item.subtasks)
    if other := flag_item.contradicted:
        labels.append(f"but {other.by} shows {format_state(other.state)} for {format_age(other.age)}")
    return labels + ["ambiguous"] * flag_item.ambiguous


def format_state_cell(item: AgentRow) -> str:
    """Format as `! waiting approval` or `running, 2 subtasks`; `!` means that a person must act."""
    mark = "! " if item.needs_action else ""
    return mark + ", ".join([format_state(item.state, item.reason), *list_flag_labels(item.flags)])


def get_state_style(item: AgentRow) -> str:
    return STATE_STYLES[item.state] if item.state is not None else ""


def _format_cost(item: Any) -> str:
    """Format the cost of an AgentRow or of a total."""
    return "-" if item.cost is None else format_dollars(item.cost, is_estimated=item.cost_is_estimated)


def format_dollars(dollars: float | None, *, is_estimated: bool = False) -> str:
    """Format as `$1.20`, or `~$1.20` for an estimate."""
    return "unknown" if dollars is None else f"{'~' * is_estimated}${dollars:.2f}"


AGENT_COLUMN = TableColumn("AGENT", lambda item: item.agent or "-")
# Keep a state readable in full on narrow terminals.
MIN_STATE_WIDTH = len("unknown (no signal)")
STATE_COLUMN = TableColumn(
    "STATE", format_state_cell, can_shrink=True, choose_style=get_state_style, min_width=MIN_STATE_WIDTH
)
AGE_COLUMN = TableColumn("AGE", lambda item: format_age(item.state_age), is_right_aligned=True)
MODEL_COLUMN = TableColumn("MODEL", lambda item: item.model or "-", can_shrink=True, worth=4)
TIER_COLUMN = TableColumn("TIER", lambda item: item.evidence_mode if item.agent else "-", worth=1, style="dim")
TOKENS_COLUMN = TableColumn(
    "TOKENS", lambda item: "-" if item.tokens is None else f"{item.tokens:,}", is_right_aligned=True, worth=3
)
CONTEXT_COLUMN = TableColumn(
    "CONTEXT",
    lambda item: "-" if item.context_used is None else f"{item.context_used:.0%}",
    is_right_aligned=True,
    worth=3,
)
COST_COLUMN = TableColumn("COST", _format_cost, is_right_aligned=True, worth=4)
# Model, usage and evidence tier, shown if the terminal is wide enough.
USAGE_COLUMNS = (MODEL_COLUMN, TOKENS_COLUMN, CONTEXT_COLUMN, COST_COLUMN, TIER_COLUMN)
