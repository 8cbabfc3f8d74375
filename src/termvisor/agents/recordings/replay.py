"""Plays a recording as the product would have heard it, and explains what it would have said at an instant. Pure.

Invariant: the same facts go through the same fold as those of a living agent, so what is explained here is what a
daemon with these settings would have shown.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Seen
from termvisor.agents.recordings.recording import Moment, Recording
from termvisor.agents.state.explain import explain
from termvisor.agents.state.reducer import NOTHING
from termvisor.agents.state.titles import Known, known_titles, title
from termvisor.agents.tracking import screen_signal as glance
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.fact_redaction import clean
from termvisor.agents.tracking.screen_signal import Glance
from termvisor.agents.tracking.transition import Standing, Terms, take_turn
from termvisor.clock import NS
from termvisor.errors import BadRequest, NoAgent
from termvisor.model.agent.agent_process import Fact, RuntimeBegan
from termvisor.model.agent.attention import need
from termvisor.model.agent.replay_result import Replayed
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import SignalId
from termvisor.model.terminal.screen import Screen

_APART = 2 * NS
_AFTER = 300
"""So many looks, at most, are taken at the last screen when it is asked what would follow if it stood."""


def replay(recording: Recording, at: int, circle: Circle, terms: Terms) -> Replayed:
    """What is known at this instant; after the end of the recording its last screen is taken to stand still."""
    if at < recording.began_at:
        raise BadRequest("--at lies before the recording begins")
    recording = _named(recording, circle, at)
    if recording.gone_at is not None and at >= recording.gone_at:
        raise NoAgent("the agent had ended by then", hint="Name an earlier instant with --at.")
    told = _told(recording, at, circle, terms)
    return _explained(recording, at, told, terms)


def _named(recording: Recording, circle: Circle, at: int) -> Recording:
    """With its agent: the one that the recording tells, else the only one whose screens are like this."""
    agent = recording.agent or _seen_in(recording, circle, at)
    if agent not in circle.adapters:
        known = ", ".join(sorted(circle.adapters))
        raise BadRequest(f"no agent is known by the name {agent}", hint=f"These are: {known}.")
    return replace(recording, agent=agent, runtime=replace(recording.runtime, agent=agent))


def _seen_in(recording: Recording, circle: Circle, at: int) -> str:
    screens = [one.screen for one in recording.moments if one.at <= at and one.screen is not None]
    found = {agent: seen for agent in circle.adapters if (seen := circle.look(agent, screens[-1])) and seen.rule}
    named = [agent for agent, seen in found.items() if seen.state != "unknown"]
    if len(named) != 1:
        why = "several agents' screens look like this" if named else "no known agent looks like this"
        raise NoAgent(f"the recording does not say whose it is, and {why}", hint="Name the agent with --agent.")
    return named[0]


def _told(recording: Recording, at: int, circle: Circle, terms: Terms) -> tuple[Standing, list[Signal]]:
    runtime = recording.runtime
    began = RuntimeBegan(at=recording.began_at, runtime=runtime)
    standing = take_turn(Standing(), [began], recording.began_at, terms).standing
    signals: list[Signal] = []
    for now, facts in _facts(recording, at, circle):
        outcome = take_turn(standing, [clean(fact) for fact in facts], now, terms)
        standing = outcome.standing
        signals += [fact for _, fact in outcome.turn.facts if isinstance(fact, Signal)]
    if runtime.id not in standing.knowledge.roster.tenants:
        raise NoAgent("the agent had ended by then", hint="Name an earlier instant with --at.")
    return take_turn(standing, (), at, terms).standing, signals


def _facts(recording: Recording, at: int, circle: Circle) -> Iterator[tuple[int, list[Fact]]]:
    """What becomes known, instant by instant."""
    last: Glance | None = None
    moved_at = recording.began_at
    for moment in [*recording.moments, *_standing(recording, at)]:
        heard = [record for record in moment.records if record.at <= at]
        for record in heard:
            yield record.at, list(circle.read(recording.agent, record))
        if moment.screen is None or moment.at > at:
            continue
        seen = circle.look(recording.agent, moment.screen) or Seen()
        now = Glance(rows=moment.screen.rows, seen=seen, at=moment.at, told_at=last.told_at if last else 0)
        moved_at = moved_at if last is not None and last.rows == now.rows else moment.at
        if glance.is_news(last, now, _APART):
            now.told_at = moment.at
            yield moment.at, [glance.signal(recording.runtime, now, moved_at)]
        last = now


def _standing(recording: Recording, at: int) -> Iterator[Moment]:
    """Looks at the last screen after the end."""
    last: Screen | None = recording.moments[-1].screen
    pace = max(_APART, (at - recording.ended_at) // _AFTER)
    for now in range(recording.ended_at + pace, at + 1, pace):
        yield Moment(at=now, screen=last)


def _explained(recording: Recording, at: int, told: tuple[Standing, list[Signal]], terms: Terms) -> Replayed:
    standing, signals = told
    runtime = recording.runtime
    found = explain(standing.knowledge, runtime.id, at, terms.measure)
    named = {found.state.evidence, *(one.evidence for one in found.testimonies)} - {None, SignalId(0)}
    own, past = known_titles(standing.knowledge.ledgers.get(runtime.id, NOTHING), runtime.agent, terms.measure)
    wanted, projection = need(found.state), standing.projections.get(runtime.id)
    view = AgentView(
        state=found.state,
        version=projection.version if projection is not None else 0,
        title=title(Known(own_name=own, past_title=past, path=runtime.cwd), runtime.agent),
        need=wanted.kind if wanted is not None else None,
        needs_action=wanted is not None and wanted.is_action,
        session=standing.story.going_on.get(runtime.id),
    )
    return Replayed(
        kind=recording.kind,
        version=recording.version or (view.session.version if view.session is not None else ""),
        began_at=recording.began_at,
        ended_at=recording.ended_at,
        at=at,
        moments=sum(one.at <= at for one in recording.moments),
        runtime=runtime,
        view=view,
        explanation=found,
        signals=tuple(one for one in signals if one.id in named),
    )
