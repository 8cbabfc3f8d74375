"""Laws of states: they depend on what was stored and on nothing else, and nothing is claimed that nobody said."""

from functools import reduce

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.agents.state.published_state import list_states
from termvisor.agents.state.reducer import AgentKnowledge, apply_fact, apply_facts
from termvisor.agents.state.resolver import find_next_change, resolve_state
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentExited, Fact, OutputMissed, TargetReachability
from termvisor.model.agent.signal import FlagUpdate, ProcessHint, Signal
from termvisor.model.agent.state import PRECEDENCE, AgentState, get_precedence, select_top_state
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, SignalId
from tests.builtin_thresholds import SOURCES_BY_AGENT
from tests.unit.agents.state.signal_scene import (
    HEURISTIC,
    LOCAL,
    ONE,
    SECOND_NS,
    build_agent_process,
    build_agent_started,
    build_signal,
    to_ns,
)

BEATING = tuple(replace(one, beats=one.name == "osc") for one in SOURCES_BY_AGENT["claude_code"])
MEASURE = Thresholds(sources={"claude_code": BEATING})
NAMES = ["registry", "osc", "hook", "screen", "title"]
seconds = st.integers(0, 9000).map(lambda tenths: tenths / 10)
flags = st.builds(
    FlagUpdate,
    usage_limited=st.none() | st.booleans(),
    resets_at=st.none() | st.integers(0, 900).map(to_ns),
    compacting=st.none() | st.booleans(),
)


@st.composite
def signals(draw: st.DrawFn) -> Signal:
    source, when, state = draw(st.sampled_from(NAMES)), draw(seconds), draw(st.sampled_from([*PRECEDENCE, None]))
    fields = {
        "reason": "unsupported_signal" if state == "unknown" else None,
        "flags": draw(flags),
        "dedupe_key": f"{source} {when} {draw(st.integers(0, 3))}",
        "event_at": to_ns(when) - draw(st.integers(0, 3)) * SECOND_NS,
        "tasks": draw(st.sampled_from([None, None, None, (), ("a",), ("a", "b")])),
    }
    if source in HEURISTIC:
        fields |= {
            "moved_at": to_ns(when) - draw(st.integers(0, 60)) * SECOND_NS,
            "look_interval": 2 * SECOND_NS,
            "tasks": None,
        }
    return build_signal(when, source, state, **fields)


tasks = st.builds(
    lambda when, kind, task: build_signal(when, "hook", kind=kind, task=task),
    seconds,
    st.sampled_from(["task_began", "task_ended"]),
    st.sampled_from(["a", "b"]),
)


def numbered(found: list[Signal]) -> list[Signal]:
    """In the order of their arrival, each with a number of its own, as the store gives them."""
    ordered = sorted(found, key=lambda one: one.ingested_at)
    return [replace(one, id=SignalId(number)) for number, one in enumerate(ordered, 1)]


heard = st.lists(signals() | tasks, max_size=12).map(numbered)
lives: st.SearchStrategy[Fact] = st.one_of(
    st.builds(lambda when: OutputMissed(at=to_ns(when), pane=PaneId(7)), seconds),
    st.builds(
        lambda when, yes: TargetReachability(at=to_ns(when), target=LOCAL, is_reachable=yes), seconds, st.booleans()
    ),
)


def knowing(facts: list[Fact]) -> AgentKnowledge:
    return apply_facts(AgentKnowledge(), [build_agent_started(0), *facts], MEASURE)


def state(facts: list[Fact], when: float) -> AgentState:
    (only,) = list_states(knowing(facts), to_ns(when), MEASURE)
    return only


@given(heard, st.randoms(use_true_random=False))
def test_the_order_in_which_sources_are_heard_does_not_matter(facts: list[Signal], random) -> None:
    queues = {name: [one for one in facts if one.source == name] for name in NAMES}
    order = [one.source for one in facts]
    random.shuffle(order)
    shuffled = [queues[name].pop(0) for name in order]
    assert knowing(shuffled).source_slots == knowing(list(facts)).source_slots


@given(st.dictionaries(st.integers(0, 900), st.sampled_from(PRECEDENCE[:-1]), min_size=1, max_size=8), st.data())
def test_however_words_of_a_source_arrive_its_newest_one_stands(said: dict, data: st.DataObject) -> None:
    order = data.draw(st.permutations(sorted(said)))
    arriving = [build_signal(1000 + n, "hook", said[when], event_at=to_ns(when)) for n, when in enumerate(order)]
    slot = knowing(arriving).source_slots[ONE].slots["hook"]
    assert slot.statement is not None
    assert slot.statement.state == said[max(said)]


@given(heard, st.data())
def test_a_word_heard_twice_is_heard_once(facts: list[Signal], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(facts), max_size=3)) if facts else []
    later = [replace(one, ingested_at=one.ingested_at + SECOND_NS) for one in again]
    assert knowing([*facts, *later]).source_slots == knowing(list(facts)).source_slots


@given(st.lists(signals() | tasks | lives, max_size=12), st.integers(0, 12), seconds)
def test_what_is_read_again_from_the_store_is_what_was_live(facts: list[Fact], cut: int, when: float) -> None:
    live = knowing(facts)
    half = knowing(facts[:cut])
    stored = msgspec.json.decode(msgspec.json.encode(half), type=AgentKnowledge)
    lines = [msgspec.json.decode(msgspec.json.encode(one), type=Fact) for one in facts[cut:]]
    resumed = reduce(lambda known, fact: apply_fact(known, fact, MEASURE), lines, stored)
    assert resumed == live
    assert list_states(resumed, to_ns(when), MEASURE) == list_states(live, to_ns(when), MEASURE)


@given(heard, st.floats(0.1, 119), st.sampled_from(["", "old"]))
def test_the_dead_do_not_speak_for_the_living(facts: list[Signal], later: float, session: str) -> None:
    hint = ProcessHint(mux_pane=MuxPaneId("%5"))
    alive = replace(build_signal(1, "hook", "running"), session="old")
    end, newcomer = (
        AgentExited(at=to_ns(1000), runtime=ONE),
        build_agent_started(1000, build_agent_process(2, mux_pane="%5", generation=1)),
    )
    late = [
        replace(
            one, runtime=None, hint=hint, session=session, event_at=to_ns(1000 + later), ingested_at=to_ns(1000 + later)
        )
        for one in facts
    ]
    known = knowing([alive, end, newcomer, *late, *facts])
    assert known.source_slots.get(RuntimeId(2)) is None
    assert sum(known.dropped.values()) == 2 * len(facts)


@given(heard, seconds)
def test_nothing_is_claimed_that_nobody_said(facts: list[Signal], when: float) -> None:
    said = {one.state for one in facts}
    found = state(list(facts), when)
    has_tasks = any(one.tasks or one.kind == "task_began" for one in facts)
    possible = {
        "idle": said & {"idle", "completed"},
        "running": said & {"running"} or (has_tasks and said & {"idle", "completed"}),
    }
    assert found.value == "unknown" or possible.get(found.value, found.value in said)
    assert (found.value == "unknown") == (found.reason is not None) == (found.evidence_mode == "none")


@given(heard, seconds)
def test_no_state_is_older_than_its_source_may_be(facts: list[Signal], when: float) -> None:
    known = knowing(list(facts))
    ledger = known.source_slots.get(ONE)
    leader = resolve_state(ledger, "claude_code", to_ns(when), MEASURE).leader if ledger is not None else None
    if leader is not None:
        limit = MEASURE.fresh_for if leader.source.beats else leader.source.trusted_for
        looks = [slot.heard_at for name, slot in ledger.slots.items() if name in HEURISTIC] if ledger else []
        vouched_at = max(looks, default=0) + 90 * SECOND_NS if not leader.source.beats else 0
        assert to_ns(when) <= max(leader.slot.heard_at + limit, vouched_at)


@given(heard, seconds, st.floats(0, 1, exclude_max=True))
def test_nothing_changes_by_itself_before_the_instant_that_was_named(
    facts: list[Signal], when: float, part: float
) -> None:
    ledger = knowing(list(facts)).source_slots.get(ONE)
    if ledger is not None:
        now = to_ns(when)
        until = find_next_change(ledger, "claude_code", now, MEASURE) or now + 10**6 * SECOND_NS
        between = now + int((until - now) * part)
        early, late = (resolve_state(ledger, "claude_code", one, MEASURE) for one in (now, between))
        assert (early.value, early.reason, early.flags) == (late.value, late.reason, late.flags)


names = st.lists(st.sampled_from(PRECEDENCE), min_size=1)


@given(names, names)
def test_precedence_is_one_order(some: list, others: list) -> None:
    assert (
        select_top_state([*some, *others])
        == select_top_state([*others, *some])
        == select_top_state([select_top_state(some), select_top_state(others)])
    )
    assert all(get_precedence(select_top_state(some)) <= get_precedence(one) for one in some)
