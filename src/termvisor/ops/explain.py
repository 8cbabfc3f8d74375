"""The op `explain`: why an agent is said to be in its state: the evidence, every witness, and what would change it."""

from msgspec import Struct

from termvisor.errors import NoAgent
from termvisor.model.agent import StateName, Tier
from termvisor.model.event import Scalar
from termvisor.model.explanation import Explanation, Prospect, Role, Testimony
from termvisor.model.ids import SignalId
from termvisor.model.pane import PaneView
from termvisor.model.signal import Signal, SignalKind
from termvisor.ops.agent_row import NEEDS, AgentRow, beside, painted, row, spoken, who
from termvisor.ops.base import Example, Op
from termvisor.ops.described import masked
from termvisor.ops.envelope import seconds_between
from termvisor.ops.guards import PaneReference
from termvisor.ops.listing import age_of, instant, named
from termvisor.ops.look import Column, Look, age, clean, shorten, table
from termvisor.ops.world import World
from termvisor.redact import redact

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
    """Of which pane."""

    pane: PaneReference


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


class Explained(Struct, frozen=True, kw_only=True):
    """``evidence`` is the signal that decided; null when it aged away or nothing decided."""

    agent: AgentRow
    reference: str
    evidence: EvidenceItem | None
    witnesses: tuple[WitnessItem, ...]
    would_change: tuple[ProspectItem, ...]


async def run(world: World, wanted: Explain) -> Explained:
    pane = await named(world, wanted.pane)
    views, found = await world.agents.views(), await world.agents.explain(pane.id)
    view, now = views.get(pane.id), world.clock.now()
    if found is None or view is None:
        raise _nobody(pane)
    signals = await world.agents.evidence(_named(found))
    decided = signals.get(found.state.evidence) if found.state.evidence is not None else None
    return Explained(
        agent=row(pane, view, now),
        reference=f"runtime:{found.state.runtime}",
        evidence=None if decided is None else _evidence(decided, now),
        witnesses=tuple(_witness(one, signals, now) for one in found.testimonies),
        would_change=tuple(_prospect(one, now) for one in found.would_change),
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
    parts = ["\n".join(_head(told.agent, look)), "\n".join(_proof(told.evidence, look))]
    if told.witnesses:
        parts.append("Who says what:\n" + table(_WITNESSES, told.witnesses, look))
    if told.would_change:
        parts.append("\n".join(["What would change it:", *(f"  {_when(one)}" for one in told.would_change)]))
    return "\n\n".join(parts)


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
time alone would. A pane without an agent is `agent_not_found`.""",
    Input=Explain,
    Output=Explained,
    run=run,
    plain=plain,
    exits=((4, "There is no such pane, or no agent in it."),),
    examples=(
        Example("explain 7", "for people; fit to be pasted into a bug report"),
        Example("robot explain runtime:12", "one agent by its runtime, as JSON"),
    ),
)
