"""The op `explain`: why an agent is said to be in its state: the evidence, every witness, and what would change it."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.clock import iso
from termvisor.errors import BadRequest, NoAgent
from termvisor.model.agent.explanation import Explanation, Prospect, Role, Testimony
from termvisor.model.agent.replay_result import RecordingKind, Replayed
from termvisor.model.agent.signal import Signal, SignalKind
from termvisor.model.agent.state import StateName, Tier
from termvisor.model.event import Scalar
from termvisor.model.ids import SignalId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._agent_row import NEEDS, AgentRow, beside, painted, row, spoken, told_of, who
from termvisor.ops.agents._replay_worker import replayed
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import PaneIdentity, age_of, instant, named
from termvisor.ops.render.action_text import masked
from termvisor.ops.render.text import Column, Look, age, clean, counted, shorten, table
from termvisor.redaction import redact

_WIDEST = 100
"""Columns of one value of the evidence that a person is shown."""
MEANINGS: dict[Role, str] = {
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
TIERS: dict[str, str] = {
    "deterministic": "told by the agent itself",
    "heuristic": "concluded from what can be seen",
    "none": "not proven by anything",
}


class Explain(Struct, frozen=True, kw_only=True):
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
    tier: Tier
    kind: SignalKind
    state: StateName | None
    session: str
    event_id: str
    event_at: str
    heard_at: str
    age: float
    title: str
    payload: dict[str, Scalar]


class WitnessItem(Struct, frozen=True, kw_only=True):
    """One source: what it last said of the state, when it was last heard, and what became of it."""

    source: str
    tier: Tier
    rank: int
    role: Role
    meaning: str
    said: StateName | None
    since: str | None
    age: float
    evidence: EvidenceItem | None


class ProspectItem(Struct, frozen=True, kw_only=True):
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


class Explained(Struct, frozen=True, kw_only=True):
    """``evidence`` is the signal that decided; null when it aged away or nothing decided. ``doubts`` are what could not
    be proven of the agent, and was therefore left out. ``recording`` is null for an agent that lives.
    """

    agent: AgentRow
    reference: str
    evidence: EvidenceItem | None
    witnesses: tuple[WitnessItem, ...]
    would_change: tuple[ProspectItem, ...]
    doubts: tuple[str, ...] = ()
    recording: RecordingItem | None = None


async def run(world: World, wanted: Explain) -> Explained:
    if wanted.file is not None:
        if wanted.pane is not None:
            raise BadRequest("a pane and a recording were given", hint="Give one of them.")
        return _recorded(wanted.file, await replayed(wanted.file, wanted.agent or "", wanted.at or ""))
    if wanted.pane is None:
        raise BadRequest("the pane is missing", hint="Name a pane, or a recording with --file.")
    if wanted.at is not None or wanted.agent is not None:
        raise BadRequest("--at and --agent are for recordings", hint="Name one with --file.")
    return await _living(world, wanted.pane)


def _recorded(path: str, told: Replayed) -> Explained:
    place, signals = told.runtime.place, {one.id: one for one in told.signals}
    who = PaneIdentity(
        target=place.target, session_name="recording", window_id="", pane_id=place.mux_pane, id=told.runtime.pane
    )
    recording = RecordingItem(
        path=path,
        kind=told.kind,
        version=redact(told.version),
        began_at=iso(told.began_at),
        ended_at=iso(told.ended_at),
        at=iso(told.at),
        moments=told.moments,
    )
    known = _explained(AgentRow(identity=who, **told_of(told.view, told.at)), told.explanation, signals, told.at)
    return replace(known, recording=recording)


async def _living(world: World, reference: str) -> Explained:
    pane = await named(world, reference)
    views, found = await world.agents.views(), await world.agents.explain(pane.id)
    view, now = views.get(pane.id), world.clock.now()
    if found is None or view is None:
        raise _nobody(pane)
    return _explained(row(pane, view, now), found, await world.agents.evidence(_named(found)), now)


def _explained(agent: AgentRow, found: Explanation, signals: dict[SignalId, Signal], now: int) -> Explained:
    decided = signals.get(found.state.evidence) if found.state.evidence is not None else None
    return Explained(
        agent=agent,
        reference=f"runtime:{found.state.runtime}",
        evidence=None if decided is None else _evidence(decided, now),
        witnesses=tuple(_witness(one, signals, now) for one in found.testimonies),
        would_change=tuple(_prospect(one, now) for one in found.would_change),
        doubts=tuple(redact(one) for one in found.doubts),
    )


def _nobody(pane: PaneView) -> NoAgent:
    what = "it ended" if pane.gone_at is not None else f"its activity is {pane.activity.kind.replace('_', ' ')}"
    return NoAgent(f"no agent is in pane {pane.id}; {what}", details={"pane": pane.id})


def _named(found: Explanation) -> list[SignalId]:
    numbers = [found.state.evidence, *(one.evidence for one in found.testimonies)]
    return [number for number in dict.fromkeys(numbers) if number is not None]


def _evidence(signal: Signal, now: int) -> EvidenceItem:
    return EvidenceItem(
        signal=signal.id,
        source=signal.source,
        tier=signal.tier,
        kind=signal.kind,
        state=signal.state,
        session=redact(signal.session),
        event_id=redact(signal.source_event_id),
        event_at=instant(signal.event_at) or "",
        heard_at=instant(signal.ingested_at) or "",
        age=age_of(signal.ingested_at, now) or 0.0,
        title=redact(signal.title or ""),
        payload=masked(signal.payload),
    )


def _witness(one: Testimony, signals: dict[SignalId, Signal], now: int) -> WitnessItem:
    heard = signals.get(one.evidence) if one.evidence is not None else None
    return WitnessItem(
        source=one.source,
        tier=one.tier,
        rank=one.rank,
        role=one.role,
        meaning=MEANINGS[one.role],
        said=one.said,
        since=instant(one.since),
        age=seconds_between(0, one.age),
        evidence=None if heard is None else _evidence(heard, now),
    )


def _prospect(one: Prospect, now: int) -> ProspectItem:
    left = None if one.at is None else max(0.0, seconds_between(now, one.at))
    return ProspectItem(what=one.what, at=instant(one.at), in_secs=left)


_WITNESSES = (
    Column("  SOURCE", lambda one: f"  {one.source}", style="bold"),
    Column("SAID", lambda one: spoken(one.said) or "-"),
    Column("HEARD", lambda one: f"{age(one.age)} ago", is_right=True),
    Column("ROLE", lambda one: one.role, paint=lambda one: "green" if one.role == "decides" else ""),
    Column("", lambda one: one.meaning, may_shrink=True, style="dim"),
)


def plain(told: Explained, look: Look) -> str:
    parts = [_played(told.recording)] if told.recording is not None else []
    parts += ["\n".join(_head(told.agent, look)), "\n".join(_proof(told.evidence, look))]
    if told.doubts:
        parts.append("\n".join(["What is not proven:", *(f"  {clean(one)}" for one in told.doubts)]))
    if told.witnesses:
        parts.append("Who says what:\n" + table(_WITNESSES, told.witnesses, look))
    if told.would_change:
        parts.append("\n".join(["What would change it:", *(f"  {_when(one)}" for one in told.would_change)]))
    return "\n\n".join(parts)


def _played(recording: RecordingItem) -> str:
    version = f" of version {recording.version}" if recording.version else ""
    return clean(f"{recording.path}{version}, at {recording.at}, after {counted(recording.moments, 'moment')}:")


def _head(agent: AgentRow, look: Look) -> list[str]:
    """Who, what, since when; what is asked of a person; and what that rests on."""
    state = look.paint(painted(agent), spoken(agent.state, agent.reason))
    held = f" for {age(agent.state_age)}" if agent.state_age is not None else ""
    lines = [f"{clean(who(agent))}: {state}{held}"]
    lines += [f"It {NEEDS[agent.needs]}."] if agent.needs is not None else []
    lines += [f"Also: {', '.join(beside(agent.flags))}."] if beside(agent.flags) else []
    by = f" ({agent.source})" if agent.source else ""
    return [*lines, clean(f"This is {TIERS[agent.evidence_mode]}{by}; confidence {agent.confidence}.")]


def _proof(evidence: EvidenceItem | None, look: Look) -> list[str]:
    if evidence is None:
        return ["There is no stored evidence for it."]
    head = f"Evidence: signal {evidence.signal} of {evidence.source}, {age(evidence.age)} ago ({evidence.event_at})"
    pairs = {"session": evidence.session, "event": evidence.event_id, "title": evidence.title, **evidence.payload}
    told = [(name, value) for name, value in pairs.items() if value not in ("", None)]
    widest = max((len(name) for name, _ in told), default=0)
    room = max(20, look.width - widest - 4) if look.width else _WIDEST
    return [clean(head), *(f"  {clean(name):<{widest}}  {shorten(clean(str(value)), room)}" for name, value in told)]


def _when(one: ProspectItem) -> str:
    return clean(one.what if one.in_secs is None else f"in {age(one.in_secs)}: {one.what}")


OP = Op(
    name="explain",
    robot="explain",
    summary="Why an agent is said to be in its state.",
    doc="""Its state with tier, confidence and age; the exact evidence that decided, with secrets taken out; every other
source with what it said and why it did not decide; contradictions; and what would change the state, with the time where
time alone would. A pane without an agent is `agent_not_found`.

With `--file` a recording is read in place of a pane, without a daemon, by the same adapters: a moment of the test
corpus, with the earlier ones of its run that lie beside it, or a film that `visor export --cast` wrote, of which only
the screens speak. `--at` names another instant than its end; after that, the last screen is taken to stand still.""",
    Input=Explain,
    Output=Explained,
    run=run,
    plain=plain,
    local_with="--file",
    exits=((4, "There is no such pane, or no agent in it."),),
    examples=(
        Example("explain 7", "for people; fit to be pasted into a bug report"),
        Example("robot explain runtime:12", "one agent by its runtime, as JSON"),
        Example("explain --file pane7.cast --agent codex --at 90s", "what a film shows 90 seconds after it begins"),
    ),
)
