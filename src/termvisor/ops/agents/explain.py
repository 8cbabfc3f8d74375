"""The operation `explain`: show the evidence for an agent's state, the other sources, and what would change it."""

import os
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.errors import AgentNotFound, BadRequest
from termvisor.model.agent.agent_view import AgentView, RecordingKind, ReplayResult
from termvisor.model.agent.evidence import EvidenceRole, ExpectedChange, SourceEvidence, StateExplanation
from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.agent.signal import Signal, SignalKind
from termvisor.model.agent.state import EvidenceTier, StateName
from termvisor.model.event import Scalar
from termvisor.model.ids import SignalId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents import _agent_row
from termvisor.ops.api.operation import CLI_FACES, Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneIdentity, resolve_pane
from termvisor.ops.render.results import compute_age, copy_fields, format_optional_timestamp
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, format_age, pluralize, sanitize, shorten
from termvisor.redaction import redact, redact_values
from termvisor.system.worker import call_worker

# Truncate values of the evidence to this many columns if the terminal width is unknown.
_MAX_VALUE_WIDTH = 100
ROLE_MEANINGS: dict[EvidenceRole, str] = {
    "decides": "the state comes from this source",
    "agrees": "reports the same state",
    "suppressed": "reports another state, but a better source is available",
    "contradicts": "shows another state than the agent reported",
    "overtaken": "missed a change that repeated screen samples proved",
    "unsettled": "not stable for long enough yet",
    "stale": "too old to be used",
    "down": "not available",
    "gap": "output is missing that may have changed the state",
    "silent": "available, but has not reported a state",
}
TIER_DESCRIPTIONS: dict[str, str] = {
    "deterministic": "Reported by the agent itself",
    "heuristic": "Inferred from what the terminal shows",
    "none": "Not supported by evidence",
}


class ExplainArgs(Struct, frozen=True, kw_only=True):
    """Choose a pane or a recording."""

    pane: Annotated[str | None, Meta(description="The pane; any reference.", extra={"positional": "one"})] = None
    file: Annotated[
        str | None,
        Meta(
            description="Explain this recording instead of a pane; needs no daemon.",
            extra={"is_path": True, "faces": CLI_FACES},
        ),
    ] = None
    at: Annotated[
        str | None,
        Meta(
            description="With --file: the instant, as time since its start (90s) or ISO 8601; default: its end.",
            extra={"faces": CLI_FACES},
        ),
    ] = None
    agent: Annotated[
        str | None,
        Meta(description="With --file: the agent, if the recording does not name it.", extra={"faces": CLI_FACES}),
    ] = None


class EvidenceItem(Struct, frozen=True, kw_only=True):
    """One stored signal. ``event_at`` is the time that the source reported, ``heard_at`` the time of capture;
    ``payload`` is its content, redacted.
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
    """One source: the state that it last reported (``said``), since when, and its role in the decision."""

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
    """``at`` is when a timeout will cause the change; null if an event is needed."""

    what: str
    at: str | None
    in_secs: float | None


class RecordingItem(Struct, frozen=True, kw_only=True):
    """``moments`` counts the recorded moments up to ``at``, the explained instant. A `cast` holds screens only,
    `scenes` also the signals of the agent.
    """

    path: str
    kind: RecordingKind
    version: str
    began_at: str
    ended_at: str
    at: str
    moments: int


class ExplainResult(Struct, frozen=True, kw_only=True):
    """``evidence`` is the deciding signal; null if there is none or it is no longer stored. ``doubts`` are observations
    that could not be attributed to this agent and were ignored. ``program`` says whether the version of the program was
    recorded, what is unproven if not, and how many of its screens no rule recognized. ``recording`` is null for a live
    agent.
    """

    agent: _agent_row.AgentRow
    reference: str
    evidence: EvidenceItem | None
    witnesses: tuple[SourceReadingItem, ...]
    would_change: tuple[PossibleChangeItem, ...]
    doubts: tuple[str, ...] = ()
    program: ProgramVersion = ProgramVersion()
    recording: RecordingItem | None = None


async def run(services: Services, args: ExplainArgs) -> ExplainResult:
    if args.file is not None:
        if args.pane is not None:
            raise BadRequest("both a pane and --file were given", hint="Pass only one of them.")
        # Runs in a worker process, so that only the worker loads the adapters of all agents.
        replayed = await call_worker(
            "termvisor.agents.recordings.open_recording:explain_recording",
            (os.path.abspath(args.file), args.agent or "", args.at or ""),
            returns=ReplayResult,
            timeout_s=120.0,
            name="replay",
        )
        return _explain_recording(args.file, replayed)
    if args.pane is None:
        raise BadRequest("no pane was given", hint="Name a pane, or a recording with --file.")
    if args.at is not None or args.agent is not None:
        raise BadRequest("--at and --agent require --file", hint="Name a recording with --file.")
    return await _explain_live_agent(services, args.pane)


def _explain_recording(path: str, replay_result: ReplayResult) -> ExplainResult:
    place, signals = replay_result.runtime.place, {signal.id: signal for signal in replay_result.signals}
    identity = PaneIdentity(
        target=place.target,
        session_name="recording",
        window_id="",
        pane_id=place.mux_pane,
        id=replay_result.runtime.pane,
    )
    recording = copy_fields(
        RecordingItem,
        replay_result,
        path=path,
        version=redact(replay_result.version),
        began_at=format_timestamp(replay_result.began_at),
        ended_at=format_timestamp(replay_result.ended_at),
        at=format_timestamp(replay_result.at),
    )
    explained = _build_result(
        _agent_row.AgentRow(identity=identity, **_agent_row.build_agent_fields(replay_result.view, replay_result.at)),
        replay_result.explanation,
        signals,
        replay_result.at,
    )
    return replace(explained, recording=recording, program=_redact_version(replay_result.view))


async def _explain_live_agent(services: Services, reference: str) -> ExplainResult:
    pane = await resolve_pane(services, reference)
    views, explanation = await services.agents.list_views(), await services.agents.explain_state(pane.id)
    view, now = views.get(pane.id), services.clock.now()
    # The agent may end between the two reads.
    if explanation is None or view is None:
        raise _build_no_agent_error(pane)
    signals = await services.agents.find_signals(_collect_signal_ids(explanation))
    result = _build_result(_agent_row.build_agent_row(pane, view, now), explanation, signals, now)
    return replace(result, program=_redact_version(view))


def _redact_version(view: AgentView) -> ProgramVersion:
    return replace(view.program, version=redact(view.program.version))


def _build_result(
    agent: _agent_row.AgentRow, explanation: StateExplanation, signals: dict[SignalId, Signal], now: int
) -> ExplainResult:
    evidence = signals.get(explanation.state.evidence) if explanation.state.evidence is not None else None
    return ExplainResult(
        agent=agent,
        reference=f"runtime:{explanation.state.runtime}",
        evidence=None if evidence is None else _build_evidence_item(evidence, now),
        witnesses=tuple(_build_source_item(source, signals, now) for source in explanation.testimonies),
        would_change=tuple(_build_possible_change(change, now) for change in explanation.would_change),
        doubts=tuple(map(redact, explanation.doubts)),
    )


def _build_no_agent_error(pane: PaneView) -> AgentNotFound:
    activity = "the pane is gone" if pane.gone_at is not None else f"activity: {pane.activity.kind.replace('_', ' ')}"
    return AgentNotFound(f"no agent in pane {pane.id} ({activity})", details={"pane": pane.id})


def _collect_signal_ids(explanation: StateExplanation) -> list[SignalId]:
    ids = [explanation.state.evidence, *(source.evidence for source in explanation.testimonies)]
    # Removes duplicates: the deciding signal is also the evidence of its own source.
    return [signal_id for signal_id in dict.fromkeys(ids) if signal_id is not None]


def _build_evidence_item(signal: Signal, now: int) -> EvidenceItem:
    return copy_fields(
        EvidenceItem,
        signal,
        signal=signal.id,
        session=redact(signal.session),
        event_id=redact(signal.source_event_id),
        event_at=format_optional_timestamp(signal.event_at) or "",
        heard_at=format_optional_timestamp(signal.ingested_at) or "",
        age=compute_age(signal.ingested_at, now) or 0.0,
        title=redact(signal.title or ""),
        payload=redact_values(signal.payload),
    )


def _build_source_item(source: SourceEvidence, signals: dict[SignalId, Signal], now: int) -> SourceReadingItem:
    signal = signals.get(source.evidence) if source.evidence is not None else None
    return copy_fields(
        SourceReadingItem,
        source,
        meaning=ROLE_MEANINGS[source.role],
        since=format_optional_timestamp(source.since),
        age=compute_seconds_between(0, source.age),
        evidence=None if signal is None else _build_evidence_item(signal, now),
    )


def _build_possible_change(change: ExpectedChange, now: int) -> PossibleChangeItem:
    seconds = None if change.at is None else max(0.0, compute_seconds_between(now, change.at))
    return PossibleChangeItem(what=change.what, at=format_optional_timestamp(change.at), in_secs=seconds)


_SOURCE_COLUMNS = (
    TableColumn("  SOURCE", lambda item: f"  {item.source}", style="bold"),
    TableColumn("STATE", lambda item: _agent_row.format_state(item.said) or "-"),
    TableColumn("UPDATED", lambda item: f"{format_age(item.age)} ago", is_right_aligned=True),
    TableColumn("ROLE", lambda item: item.role, choose_style=lambda item: "green" if item.role == "decides" else ""),
    TableColumn("", lambda item: item.meaning, can_shrink=True, style="dim", min_width=24, worth=1),
)


def render_text(result: ExplainResult, options: RenderOptions) -> str:
    parts = [_format_recording(result.recording)] if result.recording is not None else []
    head = [*_format_head(result.agent, options), *_format_version(result.program)]
    parts += ["\n".join(head), "\n".join(_format_evidence(result.evidence, options))]
    if result.doubts:
        parts.append("\n".join(["Ignored, not attributable:", *(f"  {sanitize(text)}" for text in result.doubts)]))
    if result.witnesses:
        parts.append("Sources:\n" + render_table(_SOURCE_COLUMNS, result.witnesses, options))
    if result.would_change:
        changes = (f"  {_format_possible_change(item)}" for item in result.would_change)
        parts.append("\n".join(["The state would change:", *changes]))
    return "\n\n".join(parts)


def _format_recording(recording: RecordingItem) -> str:
    version = f" of version {recording.version}" if recording.version else ""
    return sanitize(f"{recording.path}{version}, at {recording.at}, after {pluralize(recording.moments, 'moment')}:")


def _format_head(agent: _agent_row.AgentRow, options: RenderOptions) -> list[str]:
    """Format agent, state, age, need, flags and evidence tier."""
    state = options.paint(_agent_row.get_state_style(agent), _agent_row.format_state(agent.state, agent.reason))
    duration = f" for {format_age(agent.state_age)}" if agent.state_age is not None else ""
    lines = [f"{sanitize(_agent_row.describe_agent(agent))}: {state}{duration}"]
    lines += [f"It {_agent_row.NEED_DESCRIPTIONS[agent.needs]}."] if agent.needs is not None else []
    lines += (
        [f"Flags: {', '.join(_agent_row.list_flag_labels(agent.flags))}."]
        if _agent_row.list_flag_labels(agent.flags)
        else []
    )
    source = f" ({agent.source})" if agent.source else ""
    return [*lines, sanitize(f"{TIER_DESCRIPTIONS[agent.evidence_mode]}{source}; confidence {agent.confidence}.")]


def _format_version(program: ProgramVersion) -> list[str]:
    """Format as `Version 0.33.0 has no recordings, only 0.61.0; unproven: …`; empty if nothing is known about it."""
    if not program.version and not program.recorded:
        return []
    text = program.description
    return [sanitize(f"{text[0].upper()}{text[1:]}.")]


def _format_evidence(evidence: EvidenceItem | None, options: RenderOptions) -> list[str]:
    if evidence is None:
        return ["No evidence is stored for this state."]
    at = "" if options.width else f" ({evidence.event_at})"
    head = f"Evidence: {evidence.source} signal {evidence.signal}, {format_age(evidence.age)} ago{at}"
    pairs = {"session": evidence.session, "event": evidence.event_id, "title": evidence.title, **evidence.payload}
    fields = [(name, value) for name, value in pairs.items() if value not in ("", None)]
    widest = max((len(name) for name, _ in fields), default=0)
    # A value keeps at least 20 columns, however narrow the terminal is.
    room = max(20, options.width - widest - 4) if options.width else _MAX_VALUE_WIDTH
    return [
        sanitize(head),
        *(f"  {sanitize(name):<{widest}}  {shorten(sanitize(str(value)), room)}" for name, value in fields),
    ]


def _format_possible_change(item: PossibleChangeItem) -> str:
    return sanitize(item.what if item.in_secs is None else f"in {format_age(item.in_secs)}: {item.what}")


OP = Operation(
    name="explain",
    robot_name="explain",
    summary="Explain why an agent is in its state.",
    doc="""Shows the state with tier, confidence and age; the deciding evidence, redacted; every other source with the
state it reported and why it did not decide; contradictions; the version of the program and whether it was recorded; and
what would change the state, with the time if a timeout would. A pane without an agent is `agent_not_found`.

`--file` explains a recording instead, without a daemon and with the same adapters: a moment of the test corpus,
together with the earlier moments of its run in the same directory, or a cast that `visor export --cast` wrote, which
holds screens only. `--at` chooses an instant before its end; past the end the last screen is taken to stay.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    local_option="--file",
    exit_statuses=((4, "Pane not found, or no agent in it."),),
    examples=(
        OperationExample("explain 7", "explain pane 7; suitable for a bug report"),
        OperationExample("robot explain runtime:12", "one agent by its runtime id, as JSON"),
        OperationExample("explain --file pane7.cast --agent codex --at 90s", "a recording, 90 seconds after its start"),
    ),
)
