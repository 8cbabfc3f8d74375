"""One turn of knowing: facts come in, and out come what is known now and what is to be stored and told. Pure.

Invariant: the same standing, facts and instant always give the same outcome; nothing is told that is not also stored.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.published_state import advance, state_of
from termvisor.agents.state.reducer import NOTHING, Knowledge, tell
from termvisor.agents.state.resolver import next_change_at
from termvisor.agents.state.thresholds import Measure
from termvisor.agents.tracking import agent_events as telling
from termvisor.agents.tracking import sessions as session_story
from termvisor.agents.tracking import state_detections as noticing
from termvisor.agents.tracking.sessions import Resume, Story
from termvisor.agents.tracking.state_detections import Rules
from termvisor.model.agent.agent_process import Fact, PaneClosed, Runtime
from termvisor.model.agent.session import AgentSession, EndReason
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, Flags, Projection, StateChange
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId, SignalId
from termvisor.store.tables.agent_facts import Published, Turn, instant


class Terms(Struct, frozen=True, kw_only=True):
    """What evidence is measured by, and how sessions are taken up again."""

    measure: Measure
    resume: Resume = lambda agent, session: ()
    rules: Rules = lambda name: None


class Standing(Struct, frozen=True, kw_only=True):
    """All that is known and was told."""

    knowledge: Knowledge = Knowledge()
    projections: dict[RuntimeId, Projection] = {}
    """As they were last published, of runtimes that live."""
    deadlines: dict[RuntimeId, int] = {}
    """When each state may change by itself."""
    story: Story = Story()
    last_fact: int = 0


class Outcome(Struct, frozen=True, kw_only=True):
    standing: Standing
    turn: Turn
    changes: tuple[StateChange, ...] = ()
    bound: tuple[tuple[RuntimeId, Signal], ...] = ()
    """The signals that counted, and for whom."""


class _Course(Struct):
    """What happens within one turn."""

    standing: Standing
    terms: Terms
    numbered: list[tuple[int, Fact]] = []
    sessions: dict[int, AgentSession] = {}
    lives: dict[RuntimeId, Runtime] = {}
    """Every runtime that lived during the turn."""
    ended: dict[RuntimeId, int] = {}
    touched: set[RuntimeId] = set()
    bound: list[tuple[RuntimeId, Signal]] = []
    shown: list[Detection] = []
    """What screens show that they did not show before."""

    def tell(self, fact: Fact) -> None:
        number = self.standing.last_fact + 1
        known = replace(fact, id=SignalId(number)) if isinstance(fact, Signal) else fact
        before = self.standing.knowledge
        after = tell(before, known, self.terms.measure)
        self.numbered.append((number, known))
        self.standing = replace(self.standing, knowledge=after, last_fact=number)
        self._note_lives(before, after)
        self._note_signals(before, after, known)
        self._note_ends(before, after, known)
        if isinstance(fact, PaneClosed):
            self.tell_story(session_story.pane_closed(self.standing.story, fact.pane, fact.at))
        if before.unreachable != after.unreachable or before.roster.doubts is not after.roster.doubts:
            self.touched.update(after.roster.tenants)

    def _note_lives(self, before: Knowledge, after: Knowledge) -> None:
        if before.roster.tenants is after.roster.tenants:
            return
        for number, tenant in after.roster.tenants.items():
            if number not in before.roster.tenants:
                self.lives[number] = tenant.runtime
                self.touched.add(number)
                self.tell_story(session_story.began(self.standing.story, tenant.runtime))

    def _note_signals(self, before: Knowledge, after: Knowledge, fact: Fact) -> None:
        """Who waited for a runtime may have found it now."""
        if before.ledgers is after.ledgers:
            return
        changed = [number for number, one in after.ledgers.items() if before.ledgers.get(number) is not one]
        self.touched.update(changed)
        heard = [*(one for one in before.pending if one not in after.pending), fact]
        for number in changed:
            for signal in heard:
                if isinstance(signal, Signal) and _counted(before, after, number, signal):
                    self.bound.append((number, signal))
                    self._note_look(before, number, signal)
                    told = session_story.heard(self.standing.story, number, signal, self.terms.resume)
                    self.tell_story(told)

    def _note_look(self, before: Knowledge, runtime: RuntimeId, signal: Signal) -> None:
        if "rule" not in signal.payload or runtime not in self.lives:
            return
        slot = before.ledgers.get(runtime, NOTHING).slots.get(signal.source)
        last = slot.rule if slot is not None else ""
        if (found := noticing.of_look(self.lives[runtime], signal, last, self.terms.rules)) is not None:
            self.shown.append(found)

    def _note_ends(self, before: Knowledge, after: Knowledge, fact: Fact) -> None:
        for number in before.roster.tenants.keys() - after.roster.tenants.keys():
            at = instant(fact)
            last = state_of(before, number, at, self.terms.measure)
            why = session_story.why_ended(last, is_pane_gone=isinstance(fact, PaneClosed))
            self.ended[number] = at
            self.tell_story(session_story.ended(self.standing.story, number, at, why))

    def tell_story(self, told: session_story.Told) -> None:
        story, changed = told
        self.standing = replace(self.standing, story=story)
        self.sessions.update((one.id, one) for one in changed)


def take_turn(standing: Standing, facts: Iterable[Fact], now: int, terms: Terms) -> Outcome:
    """What follows from these facts, and from time alone, at this instant."""
    lives = {number: tenant.runtime for number, tenant in standing.knowledge.roster.tenants.items()}
    course = _Course(standing=standing, terms=terms, lives=lives)
    for fact in facts:
        course.tell(fact)
    due = {number for number, at in standing.deadlines.items() if at <= now}
    return _concluded(course, due, now)


def look_again(standing: Standing, now: int, terms: Terms) -> Outcome:
    """Everything anew: what time did while nobody watched, and runtimes of which nothing is known any more."""
    lives = {number: tenant.runtime for number, tenant in standing.knowledge.roster.tenants.items()}
    course = _Course(standing=standing, terms=terms, lives=lives)
    course.ended = dict.fromkeys(standing.projections.keys() - lives.keys(), now)
    for number in sorted(standing.story.going_on.keys() - lives.keys()):
        course.tell_story(session_story.ended(course.standing.story, number, now, "manual"))
    return _concluded(course, set(lives), now)


def _concluded(course: _Course, due: set[RuntimeId], now: int) -> Outcome:
    standing, terms = course.standing, course.terms
    living = sorted((course.touched | due) & standing.knowledge.roster.tenants.keys())
    changes = [change for number in living if (change := _change(standing, number, now, terms.measure))]
    changes += [_end(standing, number, course, at) for number, at in sorted(course.ended.items())]
    projections = {**standing.projections, **{one.after.runtime: _projected(one) for one in changes}}
    deadlines = {**standing.deadlines, **{number: _deadline(standing, number, now, terms) for number in living}}
    events = [event for change in changes if (event := _event(change, course))]
    turn = Turn(
        facts=course.numbered,
        states=[_published(one, course) for one in changes],
        sessions=list(course.sessions.values()),
        events=events,
        detections=_noticed(course, changes),
    )
    alive = standing.knowledge.roster.tenants
    known = replace(
        standing,
        projections={number: one for number, one in projections.items() if number in alive},
        deadlines={number: at for number, at in deadlines.items() if number in alive and at},
    )
    return Outcome(standing=known, turn=turn, changes=tuple(changes), bound=tuple(course.bound))


def _noticed(course: _Course, changes: Sequence[StateChange]) -> list[Detection]:
    going_on = (change for change in changes if change.after.runtime not in course.ended)
    told = [found for change in going_on for found in noticing.of_flags(change)]
    story = course.standing.story
    over = (one for one in course.sessions.values() if one.ended_at is not None)
    return [*course.shown, *told, *(noticing.of_session(one, _proven_end(one, story)) for one in over)]


def _change(standing: Standing, runtime: RuntimeId, now: int, measure: Measure) -> StateChange | None:
    current = standing.projections.get(runtime)
    state = state_of(standing.knowledge, runtime, now, measure)
    return advance(current, current.version if current is not None else 0, state, now)


def _end(standing: Standing, runtime: RuntimeId, course: _Course, at: int) -> StateChange:
    """The last word on a runtime: there is no agent any more."""
    current = standing.projections.get(runtime)
    last = current.state if current is not None else _unheard(course.lives[runtime])
    over = replace(
        last,
        value="unknown",
        reason="no_signal",
        evidence_mode="none",
        source="",
        evidence=None,
        since=at,
        flags=Flags(),
        confidence="low",
        presence="unmanaged",
        binding="unmanaged",
    )
    version = current.version + 1 if current is not None else 1
    return StateChange(at=at, version=version, before=current.state if current is not None else None, after=over)


def _unheard(runtime: Runtime) -> AgentState:
    return AgentState(runtime=runtime.id, pane=runtime.pane, agent=runtime.agent, reason="no_signal")


def _deadline(standing: Standing, runtime: RuntimeId, now: int, terms: Terms) -> int:
    """0 where time alone changes nothing."""
    ledger = standing.knowledge.ledgers.get(runtime, NOTHING)
    agent = standing.knowledge.roster.tenants[runtime].runtime.agent
    return next_change_at(ledger, agent, now, terms.measure) or 0


def _projected(change: StateChange) -> Projection:
    return Projection(version=change.version, state=change.after)


def _published(change: StateChange, course: _Course) -> Published:
    runtime = course.lives.get(change.after.runtime)
    return Published(
        projection=_projected(change),
        began_at=runtime.started_at if runtime is not None else change.at,
        ended_at=course.ended.get(change.after.runtime),
    )


def _event(change: StateChange, course: _Course) -> Event | None:
    number = change.after.runtime
    if number in course.ended:
        over = [one for one in course.sessions.values() if one.runtime == number and one.ended_at]
        return telling.end(change, _proven_end(over[-1], course.standing.story) if over else None)
    if change.before is None:
        return telling.beginning(change, course.lives[number])
    return telling.change(change)


def _proven_end(over: AgentSession, story: Story) -> EndReason | None:
    """None where nobody has said why it broke off: perhaps its pane is about to go, too. The session tells it then."""
    broken_off = story.broken_off.get(over.pane)
    return None if broken_off is not None and broken_off.id == over.id else over.end_reason


def _counted(before: Knowledge, after: Knowledge, runtime: RuntimeId, signal: Signal) -> bool:
    """Whether this runtime's ledger has heard the signal just now."""
    old, now = before.ledgers.get(runtime, NOTHING), after.ledgers[runtime]
    had, has = old.slots.get(signal.source), now.slots.get(signal.source)
    is_new = had is None or signal.dedupe_key not in had.memory.seen
    return has is not None and has is not had and is_new and signal.dedupe_key in has.memory.seen
