"""State resolution: it depends only on stored facts, and publishes no state without a signal."""

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
THRESHOLDS = Thresholds(sources={"claude_code": BEATING})
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


def number_signals(found: list[Signal]) -> list[Signal]:
    """Sort by arrival and assign unique ids, as the store does."""
    ordered = sorted(found, key=lambda one: one.ingested_at)
    return [replace(one, id=SignalId(number)) for number, one in enumerate(ordered, 1)]


stored_signals = st.lists(signals() | tasks, max_size=12).map(number_signals)
pane_facts: st.SearchStrategy[Fact] = st.one_of(
    st.builds(lambda when: OutputMissed(at=to_ns(when), pane=PaneId(7)), seconds),
    st.builds(
        lambda when, yes: TargetReachability(at=to_ns(when), target=LOCAL, is_reachable=yes), seconds, st.booleans()
    ),
)


def build_knowledge(facts: list[Fact]) -> AgentKnowledge:
    return apply_facts(AgentKnowledge(), [build_agent_started(0), *facts], THRESHOLDS)


def resolve_only_state(facts: list[Fact], when: float) -> AgentState:
    (only,) = list_states(build_knowledge(facts), to_ns(when), THRESHOLDS)
    return only


@given(stored_signals, st.randoms(use_true_random=False))
def test_knowledge_does_not_depend_on_the_order_of_different_sources(facts: list[Signal], random) -> None:
    queues = {name: [one for one in facts if one.source == name] for name in NAMES}
    order = [one.source for one in facts]
    random.shuffle(order)
    shuffled = [queues[name].pop(0) for name in order]
    assert build_knowledge(shuffled).source_slots == build_knowledge(list(facts)).source_slots


@given(st.dictionaries(st.integers(0, 900), st.sampled_from(PRECEDENCE[:-1]), min_size=1, max_size=8), st.data())
def test_the_newest_signal_of_a_source_wins_in_any_arrival_order(states_by_second: dict, data: st.DataObject) -> None:
    order = data.draw(st.permutations(sorted(states_by_second)))
    arriving = [
        build_signal(1000 + n, "hook", states_by_second[when], event_at=to_ns(when)) for n, when in enumerate(order)
    ]
    slot = build_knowledge(arriving).source_slots[ONE].slots["hook"]
    assert slot.statement is not None
    assert slot.statement.state == states_by_second[max(states_by_second)]


@given(stored_signals, st.data())
def test_a_repeated_signal_is_ignored(facts: list[Signal], data: st.DataObject) -> None:
    repeated = data.draw(st.lists(st.sampled_from(facts), max_size=3)) if facts else []
    later = [replace(one, ingested_at=one.ingested_at + SECOND_NS) for one in repeated]
    assert build_knowledge([*facts, *later]).source_slots == build_knowledge(list(facts)).source_slots


@given(st.lists(signals() | tasks | pane_facts, max_size=12), st.integers(0, 12), seconds)
def test_knowledge_resumed_from_the_store_equals_live_knowledge(facts: list[Fact], cut: int, when: float) -> None:
    live = build_knowledge(facts)
    half = build_knowledge(facts[:cut])
    stored = msgspec.json.decode(msgspec.json.encode(half), type=AgentKnowledge)
    lines = [msgspec.json.decode(msgspec.json.encode(one), type=Fact) for one in facts[cut:]]
    resumed = reduce(lambda known, fact: apply_fact(known, fact, THRESHOLDS), lines, stored)
    assert resumed == live
    assert list_states(resumed, to_ns(when), THRESHOLDS) == list_states(live, to_ns(when), THRESHOLDS)


@given(stored_signals, st.floats(0.1, 119), st.sampled_from(["", "old"]))
def test_late_signals_of_an_exited_agent_do_not_reach_its_successor(
    facts: list[Signal], later: float, session: str
) -> None:
    hint = ProcessHint(mux_pane=MuxPaneId("%5"))
    alive = replace(build_signal(1, "hook", "running"), session="old")
    end, successor = (
        AgentExited(at=to_ns(1000), runtime=ONE),
        build_agent_started(1000, build_agent_process(2, mux_pane="%5", generation=1)),
    )
    late = [
        replace(
            one, runtime=None, hint=hint, session=session, event_at=to_ns(1000 + later), ingested_at=to_ns(1000 + later)
        )
        for one in facts
    ]
    known = build_knowledge([alive, end, successor, *late, *facts])
    assert known.source_slots.get(RuntimeId(2)) is None
    assert sum(known.dropped.values()) == 2 * len(facts)


@given(stored_signals, seconds)
def test_a_published_state_has_a_signal_or_is_unknown_with_a_reason(facts: list[Signal], when: float) -> None:
    reported = {one.state for one in facts}
    found = resolve_only_state(list(facts), when)
    has_tasks = any(one.tasks or one.kind == "task_began" for one in facts)
    possible = {
        "idle": reported & {"idle", "completed"},
        "running": reported & {"running"} or (has_tasks and reported & {"idle", "completed"}),
    }
    assert found.value == "unknown" or possible.get(found.value, found.value in reported)
    assert (found.value == "unknown") == (found.reason is not None) == (found.evidence_mode == "none")


@given(stored_signals, seconds)
def test_no_state_outlives_the_trust_period_of_its_source(facts: list[Signal], when: float) -> None:
    known = build_knowledge(list(facts))
    slots = known.source_slots.get(ONE)
    leader = resolve_state(slots, "claude_code", to_ns(when), THRESHOLDS).leader if slots is not None else None
    if leader is not None:
        limit = THRESHOLDS.fresh_for if leader.source.beats else leader.source.trusted_for
        sampled_at = [slot.heard_at for name, slot in slots.slots.items() if name in HEURISTIC] if slots else []
        vouched_at = max(sampled_at, default=0) + 90 * SECOND_NS if not leader.source.beats else 0
        assert to_ns(when) <= max(leader.slot.heard_at + limit, vouched_at)


@given(stored_signals, seconds, st.floats(0, 1, exclude_max=True))
def test_a_state_does_not_change_before_the_predicted_next_change(
    facts: list[Signal], when: float, part: float
) -> None:
    slots = build_knowledge(list(facts)).source_slots.get(ONE)
    if slots is not None:
        now = to_ns(when)
        until = find_next_change(slots, "claude_code", now, THRESHOLDS) or now + 10**6 * SECOND_NS
        between = now + int((until - now) * part)
        early, late = (resolve_state(slots, "claude_code", one, THRESHOLDS) for one in (now, between))
        assert (early.value, early.reason, early.flags) == (late.value, late.reason, late.flags)


names = st.lists(st.sampled_from(PRECEDENCE), min_size=1)


@given(names, names)
def test_precedence_is_a_total_order(some: list, others: list) -> None:
    assert (
        select_top_state([*some, *others])
        == select_top_state([*others, *some])
        == select_top_state([select_top_state(some), select_top_state(others)])
    )
    assert all(get_precedence(select_top_state(some)) <= get_precedence(one) for one in some)
