"""The op `explain`: why an agent is said to be in its state: the evidence, every witness, and what would change it."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import format_timestamp
from termvisor.errors import AgentNotFound, BadRequest
from termvisor.model.agent.explanation import EvidenceRole, ExpectedChange, SourceEvidence, StateExplanation
from termvisor.model.agent.replay_result import RecordingKind, ReplayResult
from termvisor.model.agent.signal import Signal, SignalKind
from termvisor.model.agent.state import EvidenceTier, StateName
from termvisor.model.event import Scalar
from termvisor.model.ids import SignalId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._agent_row import (
    NEED_DESCRIPTIONS,
    AgentRow,
    build_agent_fields,
    build_agent_row,
    describe_agent,
    format_state,
    get_state_style,
    list_flag_labels,
)
from termvisor.ops.agents._replay_worker import replay_recording
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import PaneIdentity, compute_age, format_optional_timestamp, resolve_pane
from termvisor.ops.render.action_text import redact_fields
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, pluralize, render_table, sanitize, shorten
from termvisor.redaction import redact

_MAX_VALUE_WIDTH = 100
"""Columns of one value of the evidence that a person is shown."""
ROLE_MEANINGS: dict[EvidenceRole, str] = {
    "decides": "this is the one that is believed",
    "agrees": "says the same",
    "suppressed": "says otherwise, but a better source is heard",
    "contradicts": "shows something else than was told",
    "overtaken": "long looks proved that it missed something",
    "unsettled": "not seen for long enough yet",
    "stale": "too old to be believed",
    "down": "cannot be heard",
    "gap": "output is missing in which it may have said something else",
    "silent": "is there and has said nothing of the state",
}
TIER_DESCRIPTIONS: dict[str, str] = {
    "deterministic": "told by the agent itself",
    "heuristic": "concluded from what can be seen",
    "none": "not proven by anything",
}


class ExplainArgs(Struct, frozen=True, kw_only=True):
    """Of which pane, or of which recording."""

    pane: Annotated[str | None, Meta(description="The pane; any reference.", extra={"positional": "one"})] = None
    file: Annotated[
        str | None,
        Meta(description="A recording in place of a pane; read here, without a daemon.", extra={"is_path": True}),
    ] = None
    at: Annotated[
        str | None, Meta(description="Of a recording: so long after its beginning (90s), or ISO 8601; else its end.")
    ] = None
    agent: Annotated[str | None, Meta(description="Of a recording that does not say whose it is.")] = None


class EvidenceItem(Struct, frozen=True, kw_only=True):
    """One stored signal. ``event_at`` is the source's own time, ``heard_at`` ours; ``payload`` is what it said, with
    secrets taken out.
    """

    signal: int
    source: str
    tier: EvidenceTier
    kind: SignalKind
    state: StateName | None
    session: str
    event_id: str
    event_at: str
    heard_at: str
    age: float
    title: str
    payload: dict[str, Scalar]


class SourceReadingItem(Struct, frozen=True, kw_only=True):
    """One source: what it last said of the state, when it was last heard, and what became of it."""

    source: str
    tier: EvidenceTier
    rank: int
    role: EvidenceRole
    meaning: str
    said: StateName | None
    since: str | None
    age: float
    evidence: EvidenceItem | None


class PossibleChangeItem(Struct, frozen=True, kw_only=True):
    """``at`` is when time alone does it; null where something must happen."""

    what: str
    at: str | None
    in_secs: float | None


class RecordingItem(Struct, frozen=True, kw_only=True):
    """``moments`` are those up to ``at``, the instant that is explained. A `cast` holds screens alone, `scenes` also
    what the agent said itself.
    """

    path: str
    kind: RecordingKind
    version: str
    began_at: str
    ended_at: str
    at: str
    moments: int


class ExplainResult(Struct, frozen=True, kw_only=True):
    """``evidence`` is the signal that decided; null when it aged away or nothing decided. ``doubts`` are what could not
    be proven of the agent, and was therefore left out. ``recording`` is null for an agent that lives.
    """

    agent: AgentRow
    reference: str
    evidence: EvidenceItem | None
    witnesses: tuple[SourceReadingItem, ...]
    would_change: tuple[PossibleChangeItem, ...]
    doubts: tuple[str, ...] = ()
    recording: RecordingItem | None = None


async def run(services: Services, args: ExplainArgs) -> ExplainResult:
    if args.file is not None:
        if args.pane is not None:
            raise BadRequest("a pane and a recording were given", hint="Give one of them.")
        return _explain_recording(args.file, await replay_recording(args.file, args.agent or "", args.at or ""))
    if args.pane is None:
        raise BadRequest("the pane is missing", hint="Name a pane, or a recording with --file.")
    if args.at is not None or args.agent is not None:
        raise BadRequest("--at and --agent are for recordings", hint="Name one with --file.")
    return await _explain_live_agent(services, args.pane)


def _explain_recording(path: str, replay_result: ReplayResult) -> ExplainResult:
    place, signals = replay_result.runtime.place, {one.id: one for one in replay_result.signals}
    who = PaneIdentity(
        target=place.target,
        session_name="recording",
        window_id="",
        pane_id=place.mux_pane,
        id=replay_result.runtime.pane,
    )
    recording = RecordingItem(
        path=path,
        kind=replay_result.kind,
        version=redact(replay_result.version),
        began_at=format_timestamp(replay_result.began_at),
        ended_at=format_timestamp(replay_result.ended_at),
        at=format_timestamp(replay_result.at),
        moments=replay_result.moments,
    )
    known = _build_result(
        AgentRow(identity=who, **build_agent_fields(replay_result.view, replay_result.at)),
        replay_result.explanation,
        signals,
        replay_result.at,
    )
    return replace(known, recording=recording)


async def _explain_live_agent(services: Services, reference: str) -> ExplainResult:
    pane = await resolve_pane(services, reference)
    views, found = await services.agents.list_views(), await services.agents.explain_state(pane.id)
    view, now = views.get(pane.id), services.clock.now()
    if found is None or view is None:
        raise _build_no_agent_error(pane)
    return _build_result(
        build_agent_row(pane, view, now), found, await services.agents.find_signals(_collect_signal_ids(found)), now
    )


def _build_result(
    agent: AgentRow, explanation: StateExplanation, signals: dict[SignalId, Signal], now: int
) -> ExplainResult:
    decided = signals.get(explanation.state.evidence) if explanation.state.evidence is not None else None
    return ExplainResult(
        agent=agent,
        reference=f"runtime:{explanation.state.runtime}",
        evidence=None if decided is None else _build_evidence_item(decided, now),
        witnesses=tuple(_build_source_item(one, signals, now) for one in explanation.testimonies),
        would_change=tuple(_build_possible_change(one, now) for one in explanation.would_change),
        doubts=tuple(redact(one) for one in explanation.doubts),
    )


def _build_no_agent_error(pane: PaneView) -> AgentNotFound:
    what = "it ended" if pane.gone_at is not None else f"its activity is {pane.activity.kind.replace('_', ' ')}"
    return AgentNotFound(f"no agent is in pane {pane.id}; {what}", details={"pane": pane.id})


def _collect_signal_ids(explanation: StateExplanation) -> list[SignalId]:
    numbers = [explanation.state.evidence, *(one.evidence for one in explanation.testimonies)]
    return [number for number in dict.fromkeys(numbers) if number is not None]


def _build_evidence_item(signal: Signal, now: int) -> EvidenceItem:
    return EvidenceItem(
        signal=signal.id,
        source=signal.source,
        tier=signal.tier,
        kind=signal.kind,
        state=signal.state,
        session=redact(signal.session),
        event_id=redact(signal.source_event_id),
        event_at=format_optional_timestamp(signal.event_at) or "",
        heard_at=format_optional_timestamp(signal.ingested_at) or "",
        age=compute_age(signal.ingested_at, now) or 0.0,
        title=redact(signal.title or ""),
        payload=redact_fields(signal.payload),
    )


def _build_source_item(testimony: SourceEvidence, signals: dict[SignalId, Signal], now: int) -> SourceReadingItem:
    heard = signals.get(testimony.evidence) if testimony.evidence is not None else None
    return SourceReadingItem(
        source=testimony.source,
        tier=testimony.tier,
        rank=testimony.rank,
        role=testimony.role,
        meaning=ROLE_MEANINGS[testimony.role],
        said=testimony.said,
        since=format_optional_timestamp(testimony.since),
        age=compute_seconds_between(0, testimony.age),
        evidence=None if heard is None else _build_evidence_item(heard, now),
    )


def _build_possible_change(prospect: ExpectedChange, now: int) -> PossibleChangeItem:
    left = None if prospect.at is None else max(0.0, compute_seconds_between(now, prospect.at))
    return PossibleChangeItem(what=prospect.what, at=format_optional_timestamp(prospect.at), in_secs=left)


_SOURCE_COLUMNS = (
    TableColumn("  SOURCE", lambda one: f"  {one.source}", style="bold"),
    TableColumn("SAID", lambda one: format_state(one.said) or "-"),
    TableColumn("HEARD", lambda one: f"{format_age(one.age)} ago", is_right_aligned=True),
    TableColumn("ROLE", lambda one: one.role, choose_style=lambda one: "green" if one.role == "decides" else ""),
    TableColumn("", lambda one: one.meaning, can_shrink=True, style="dim"),
)


def render_text(result: ExplainResult, options: RenderOptions) -> str:
    parts = [_format_recording(result.recording)] if result.recording is not None else []
    parts += ["\n".join(_format_head(result.agent, options)), "\n".join(_format_evidence(result.evidence, options))]
    if result.doubts:
        parts.append("\n".join(["What is not proven:", *(f"  {sanitize(one)}" for one in result.doubts)]))
    if result.witnesses:
        parts.append("Who says what:\n" + render_table(_SOURCE_COLUMNS, result.witnesses, options))
    if result.would_change:
        parts.append(
            "\n".join(["What would change it:", *(f"  {_format_possible_change(one)}" for one in result.would_change)])
        )
    return "\n\n".join(parts)


def _format_recording(recording: RecordingItem) -> str:
    version = f" of version {recording.version}" if recording.version else ""
    return sanitize(f"{recording.path}{version}, at {recording.at}, after {pluralize(recording.moments, 'moment')}:")


def _format_head(agent: AgentRow, options: RenderOptions) -> list[str]:
    """Who, what, since when; what is asked of a person; and what that rests on."""
    state = options.paint(get_state_style(agent), format_state(agent.state, agent.reason))
    held = f" for {format_age(agent.state_age)}" if agent.state_age is not None else ""
    lines = [f"{sanitize(describe_agent(agent))}: {state}{held}"]
    lines += [f"It {NEED_DESCRIPTIONS[agent.needs]}."] if agent.needs is not None else []
    lines += [f"Also: {', '.join(list_flag_labels(agent.flags))}."] if list_flag_labels(agent.flags) else []
    by = f" ({agent.source})" if agent.source else ""
    return [*lines, sanitize(f"This is {TIER_DESCRIPTIONS[agent.evidence_mode]}{by}; confidence {agent.confidence}.")]


def _format_evidence(evidence: EvidenceItem | None, options: RenderOptions) -> list[str]:
    if evidence is None:
        return ["There is no stored evidence for it."]
    head = (
        f"Evidence: signal {evidence.signal} of {evidence.source}, {format_age(evidence.age)} ago ({evidence.event_at})"
    )
    pairs = {"session": evidence.session, "event": evidence.event_id, "title": evidence.title, **evidence.payload}
    told = [(name, value) for name, value in pairs.items() if value not in ("", None)]
    widest = max((len(name) for name, _ in told), default=0)
    room = max(20, options.width - widest - 4) if options.width else _MAX_VALUE_WIDTH
    return [
        sanitize(head),
        *(f"  {sanitize(name):<{widest}}  {shorten(sanitize(str(value)), room)}" for name, value in told),
    ]


def _format_possible_change(change_item: PossibleChangeItem) -> str:
    return sanitize(
        change_item.what if change_item.in_secs is None else f"in {format_age(change_item.in_secs)}: {change_item.what}"
    )


OP = Operation(
    name="explain",
    robot_name="explain",
    summary="Why an agent is said to be in its state.",
    doc="""Its state with tier, confidence and age; the exact evidence that decided, with secrets taken out; every other
source with what it said and why it did not decide; contradictions; and what would change the state, with the time where
time alone would. A pane without an agent is `agent_not_found`.

With `--file` a recording is read in place of a pane, without a daemon, by the same adapters: a moment of the test
corpus, with the earlier ones of its run that lie beside it, or a film that `visor export --cast` wrote, of which only
the screens speak. `--at` names another instant than its end; after that, the last screen is taken to stand still.""",
    args_type=ExplainArgs,
    result_type=ExplainResult,
    run=run,
    render_text=render_text,
    local_option="--file",
    exit_statuses=((4, "There is no such pane, or no agent in it."),),
    examples=(
        OperationExample("explain 7", "for people; fit to be pasted into a bug report"),
        OperationExample("robot explain runtime:12", "one agent by its runtime, as JSON"),
        OperationExample(
            "explain --file pane7.cast --agent codex --at 90s", "what a film shows 90 seconds after it begins"
        ),
    ),
)
