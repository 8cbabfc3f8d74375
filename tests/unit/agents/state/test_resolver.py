"""Scenarios: signals of several sources, and the resolved state."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.resolver import find_next_change, resolve_state, resolve_unreachable
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import Fact, OutputMissed, TargetReachability
from termvisor.model.agent.signal import FlagUpdate, Signal
from termvisor.model.agent.state import AgentState, StateContradiction
from termvisor.model.ids import PaneId
from tests.builtin_thresholds import DEFAULT_THRESHOLDS, SOURCES_BY_AGENT
from tests.unit.agents.state.signal_scene import (
    LOCAL,
    ONE,
    build_idle_screens,
    build_knowledge,
    build_screen_signal,
    build_signal,
    build_working_screens,
    compute_state_after,
    to_ns,
)

Facts = Fact | list[Signal]


def build_title_signal(seconds: float, name: str) -> Signal:
    """Build a signal of a title that the agent sets itself."""
    return build_signal(seconds, "title", name, tier="deterministic")


WAITING_SIGNALS = [build_signal(1, "hook", "waiting_input"), build_title_signal(1, "waiting_approval")]
LIMIT = FlagUpdate(usage_limited=True, resets_at=to_ns(3605))
HEARTBEAT_THRESHOLDS = Thresholds(
    sources={"claude_code": tuple(replace(one, beats=one.rank < 4) for one in SOURCES_BY_AGENT["claude_code"])}
)

SCENES: list[tuple[str, float, list[Facts], str]] = [
    ("no signal", 1, [], "unknown no_signal"),
    ("a hook signal counts", 1, [build_signal(0, "hook", "running")], "running hook"),
    (
        "a better source counts",
        2,
        [build_signal(1, "hook", "running"), build_signal(1, "registry", "idle")],
        "idle registry",
    ),
    (
        "a better source counts although it is older",
        3,
        [build_signal(1, "registry", "idle"), build_signal(2, "hook", "running")],
        "idle registry",
    ),
    (
        "equal sources: the more important state counts",
        3,
        [build_signal(1, "registry", "running"), build_signal(2, "osc", "idle")],
        "running registry",
    ),
    (
        "equal sources that agree: the newer counts",
        3,
        [build_signal(1, "registry", "running"), build_signal(2, "osc", "running")],
        "running osc",
    ),
    (
        "a hook counts before the screen",
        9,
        [build_signal(0, "hook", "running"), build_idle_screens(1, 3, 5)],
        "running hook",
    ),
    ("the screen counts without other signals", 3, [build_working_screens(1, 2)], "running screen"),
    ("a dialog on the screen counts at once", 1, [build_screen_signal(1, "waiting_input")], "waiting_input screen"),
    (
        "an unknown screen is not idle",
        90,
        [build_screen_signal(n, "unknown") for n in range(0, 90, 2)],
        "unknown unknown_screen",
    ),
    ("a prompt is not idle at once", 3, [build_idle_screens(1, 3)], "unknown no_signal"),
    ("a prompt is idle after the settling time", 5.1, [build_idle_screens(1, 3, 5)], "idle screen"),
    ("a hook is fresh for ten minutes", 600, [build_signal(0, "hook", "running")], "running hook"),
    ("a hook is stale after ten minutes", 601, [build_signal(0, "hook", "running")], "unknown stale_signal"),
    (
        "a hook stays fresh if the screen agrees",
        640,
        [build_signal(0, "hook", "running"), build_working_screens(590, 620, 639)],
        "running hook",
    ),
    (
        "a heartbeat keeps a signal fresh",
        700,
        [build_signal(0, "registry", "idle"), build_signal(300, "registry")],
        "idle registry",
    ),
    ("a screen sample becomes stale", 92, [build_working_screens(1)], "unknown stale_signal"),
    (
        "a source that is down",
        3,
        [build_signal(0, "hook", "running"), build_signal(1, "hook", kind="source_down")],
        "unknown stale_signal",
    ),
    (
        "an unsupported signal",
        3,
        [build_signal(0, "registry", "unknown", reason="unsupported_signal")],
        "unknown unsupported_signal",
    ),
    (
        "the screen counts before an unsupported signal",
        3,
        [build_signal(0, "registry", "unknown", reason="unsupported_signal"), build_working_screens(1, 2)],
        "running screen",
    ),
    (
        "missed output",
        9,
        [build_signal(0, "osc", "running"), OutputMissed(at=to_ns(5), pane=PaneId(7))],
        "unknown gap",
    ),
    (
        "a signal after missed output",
        9,
        [build_signal(0, "osc", "running"), OutputMissed(at=to_ns(5), pane=PaneId(7)), build_signal(6, "osc", "idle")],
        "idle osc",
    ),
    (
        "missed output does not affect files",
        9,
        [build_signal(0, "registry", "running"), OutputMissed(at=to_ns(5), pane=PaneId(7))],
        "running registry",
    ),
    (
        "an error that the registry cannot report",
        3,
        [build_signal(1, "registry", "idle"), build_signal(1.1, "hook", "error")],
        "error hook",
    ),
    (
        "an end that the registry cannot report",
        3,
        [build_signal(1, "hook", "completed"), build_signal(1.2, "registry", "idle")],
        "completed hook",
    ),
    (
        "an error ends when the registry reported work since",
        60,
        [
            build_signal(1, "hook", "error"),
            build_signal(9, "registry", "running"),
            build_signal(40, "registry", "idle"),
        ],
        "idle registry",
    ),
    (
        "an interrupt without a hook",
        30,
        [build_signal(0, "hook", "running"), build_idle_screens(2, 8, 20)],
        "idle screen",
    ),
    (
        "a hook after an interrupt counts at once",
        30,
        [build_signal(0, "hook", "running"), build_idle_screens(2, 8, 20), build_signal(29, "hook", "running")],
        "running hook",
    ),
    (
        "a source that reports everything is not overtaken",
        30,
        [build_signal(0, "registry", "running"), build_idle_screens(2, 8, 20)],
        "running registry",
    ),
    (
        "an answer without a hook",
        30,
        [build_signal(0, "hook", "waiting_approval"), build_working_screens(2, 8, 20)],
        "running screen",
    ),
    ("a finished task", 119, [build_signal(0, "hook", "completed")], "completed hook"),
    ("a finished task is idle later", 120, [build_signal(0, "hook", "completed")], "idle hook"),
    (
        "a finished turn with a sub-agent at work",
        3,
        [build_signal(1, "hook", "completed", tasks=("a",))],
        "running hook",
    ),
    (
        "a finished turn whose sub-agent ended",
        5,
        [build_signal(1, "hook", "completed", tasks=("a",)), build_signal(4, "hook", kind="task_ended", task="a")],
        "completed hook",
    ),
    (
        "an unreachable target",
        3,
        [build_signal(1, "hook", "running"), TargetReachability(at=to_ns(2), target=LOCAL, is_reachable=False)],
        "unknown target_unreachable",
    ),
    (
        "a target that is reachable again",
        5,
        [
            build_signal(1, "hook", "running"),
            TargetReachability(at=to_ns(2), target=LOCAL, is_reachable=False),
            TargetReachability(at=to_ns(4), target=LOCAL, is_reachable=True),
        ],
        "running hook",
    ),
]


def describe_state(one: AgentState) -> str:
    return f"{one.value} {one.reason or one.source}"


@pytest.mark.parametrize(("seconds", "facts", "expected"), [one[1:] for one in SCENES], ids=[one[0] for one in SCENES])
def test_signals_of_several_sources_give_the_state(seconds: float, facts: list[Facts], expected: str) -> None:
    assert describe_state(compute_state_after(seconds, *facts)) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(3, "running registry"), (3.1, "idle screen"), (16, "idle screen"), (20, "running registry")],
)
def test_a_source_without_heartbeats_does_not_count_until_it_is_back(seconds: float, expected: str) -> None:
    facts: list[Facts] = [build_signal(0, "registry", "running"), build_idle_screens(-6, -2, 2, moved=-9)]
    back = [build_signal(19, "registry")] if seconds > 19 else []
    assert describe_state(compute_state_after(seconds, *facts, back, thresholds=HEARTBEAT_THRESHOLDS)) == expected


def test_codex_ranks_its_server_before_output_marks() -> None:
    marks, hook = build_signal(1, "osc", "waiting_approval"), build_signal(2, "hook", "running")
    assert describe_state(compute_state_after(3, marks, hook, agent="codex")) == "waiting_approval osc"
    assert (
        describe_state(compute_state_after(3, marks, hook, build_signal(1, "app_server", "idle"), agent="codex"))
        == "idle app_server"
    )


def test_the_end_of_a_turn_does_not_end_the_next() -> None:
    first = [build_signal(1, "app_server", "idle"), build_signal(1, "notify", "completed")]
    second = [build_signal(1.5, "app_server", "running"), build_signal(2, "app_server", "idle")]
    assert describe_state(compute_state_after(3, *first, *second, agent="codex")) == "completed notify", (
        "no signal shows that the second turn was stopped"
    )
    assert (
        describe_state(compute_state_after(3, *first, *second, build_signal(2, "osc", "idle"), agent="codex"))
        == "idle app_server"
    )
    assert (
        describe_state(compute_state_after(3, *first, build_signal(0.9, "osc", "idle"), agent="codex"))
        == "completed notify"
    )


ENDS = [build_signal(1, "registry", "running"), build_signal(1, "hook", "running"), build_signal(5, "registry", "idle")]


@pytest.mark.parametrize(
    ("seconds", "facts", "expected"),
    [
        (5.1, [], "running registry"),
        (5.1, [build_signal(5.05, "transcript", "completed")], "completed transcript"),
        (5.1, [build_signal(5.05, "hook", "error")], "error hook"),
        (5.3, [], "idle registry"),
    ],
    ids=["not yet", "completed", "error", "no end reported: stopped"],
)
def test_idle_counts_after_the_settling_time(seconds, facts, expected) -> None:
    assert describe_state(compute_state_after(seconds, *ENDS, *facts)) == expected


def test_the_state_is_not_idle_between_two_turns() -> None:
    """A hook reports the next prompt some milliseconds before the registry."""
    turns = [*ENDS, build_signal(5.05, "hook", "completed"), build_signal(9, "hook", "running")]
    assert describe_state(compute_state_after(9.01, *turns)) == "completed hook"
    assert (
        describe_state(compute_state_after(9.05, *turns, build_signal(9.04, "registry", "running")))
        == "running registry"
    )
    assert describe_state(compute_state_after(9.3, *turns)) == "idle registry", "the registry ranks before a late hook"


def test_a_first_idle_counts_at_once() -> None:
    assert describe_state(compute_state_after(1, build_signal(1, "registry", "idle"))) == "idle registry"


def test_the_state_changes_after_the_settling_time_without_a_signal() -> None:
    slots = build_knowledge(*ENDS).source_slots[ONE]
    assert (
        find_next_change(slots, "claude_code", to_ns(5.1), DEFAULT_THRESHOLDS)
        == to_ns(5) + DEFAULT_THRESHOLDS.settled_after
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([build_signal(1, "hook", "waiting_approval"), build_title_signal(2, "idle")], "idle title"),
        ([build_title_signal(1, "idle"), build_signal(2, "hook", "running")], "running hook"),
        ([build_signal(1, "hook", "waiting_input"), build_title_signal(1.2, "waiting_approval")], "waiting_input hook"),
        ([build_signal(1, "hook", "completed"), build_title_signal(1.1, "idle")], "completed hook"),
    ],
    ids=[
        "a denial without a hook",
        "the hook is newer",
        "the title cannot distinguish kinds of requests",
        "the title cannot distinguish ends",
    ],
)
def test_of_equal_incomplete_sources_the_later_signal_counts(facts, expected) -> None:
    assert describe_state(compute_state_after(4, *facts, agent="gemini")) == expected


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([build_idle_screens(2, 4, 6, 8)], "idle screen"),
        ([build_screen_signal(2, "error")], "error screen"),
        ([build_screen_signal(2, "completed")], "completed hook"),
        ([build_screen_signal(0.5, "error")], "completed hook"),
        ([], "completed hook"),
    ],
    ids=["stopped", "failed", "well", "an error of the turn before", "no sample"],
)
def test_the_screen_shows_which_end_a_source_reported(samples, expected) -> None:
    ended = [build_signal(0, "hook", "running"), build_signal(1, "hook", "completed")]
    assert describe_state(compute_state_after(9, *ended, *samples, agent="gemini")) == expected
    assert describe_state(compute_state_after(9, *ended, *samples)) == "completed hook", (
        "a source that distinguishes ends counts"
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([build_title_signal(1, "idle"), build_screen_signal(2, "waiting_approval")], "waiting_approval screen"),
        ([build_screen_signal(0.5, "waiting_approval"), build_title_signal(1, "idle")], "idle title"),
        (
            [
                build_screen_signal(0.5, "waiting_approval"),
                build_title_signal(1, "idle"),
                build_screen_signal(6, "waiting_approval"),
            ],
            "waiting_approval screen",
        ),
        ([build_signal(1, "hook", "running"), build_screen_signal(2, "waiting_input")], "waiting_input screen"),
        (
            [
                build_signal(1, "hook", "running"),
                build_screen_signal(2, "waiting_input"),
                build_signal(3, "hook", "completed"),
            ],
            "completed hook",
        ),
        ([build_title_signal(1, "waiting_approval"), build_screen_signal(2, "waiting_input")], "waiting_input screen"),
        (
            [build_title_signal(2, "waiting_approval"), build_screen_signal(1, "waiting_input")],
            "waiting_approval title",
        ),
        ([*WAITING_SIGNALS, build_screen_signal(2, "waiting_input")], "waiting_input hook"),
    ],
    ids=[
        "not reported", "no sample since", "still shown", "reported as running", "closed by now",
        "another kind of request", "an earlier dialog", "a source that distinguishes the kinds counts",
    ],
)  # fmt: skip
def test_a_dialog_that_the_source_cannot_report_counts_from_the_screen(facts, expected) -> None:
    assert describe_state(compute_state_after(9, *facts, agent="gemini")) == expected


@pytest.mark.parametrize(("source", "expected"), [("transcript", "completed screen"), ("registry", "running registry")])
def test_work_ends_with_the_dialog_that_its_source_cannot_report(source: str, expected: str) -> None:
    shown = [build_screen_signal(2, "waiting_approval"), build_screen_signal(6, "completed", moved=6)]
    answered = [*shown, build_screen_signal(9, "completed", moved=6)]
    assert describe_state(compute_state_after(9, build_signal(1, source, "running"), answered)) == expected


DIALOG_OF_OLD_CODEX = [build_signal(1, "hook", "running"), build_screen_signal(2, "waiting_approval")]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (DIALOG_OF_OLD_CODEX, "waiting_approval screen"),
        ([*DIALOG_OF_OLD_CODEX, *build_idle_screens(4, 6, 8)], "idle screen"),
        ([*DIALOG_OF_OLD_CODEX, build_signal(3, "hook", "running"), *build_idle_screens(4, 6, 8)], "running hook"),
        ([build_signal(1, "hook", "running"), *(build_screen_signal(n, "error") for n in (2, 4))], "error screen"),
        ([*(build_screen_signal(n, "error") for n in (0.5, 2)), build_signal(2.5, "hook", "running")], "running hook"),
        ([*(build_screen_signal(n, "error") for n in (0, 7)), build_signal(6, "hook", "running")], "running hook"),
    ],
    ids=[
        "a dialog", "a closed dialog", "work reported after the dialog", "an error", "an earlier error",
        "an error that may be from before the turn",
    ],
)  # fmt: skip
def test_what_the_hooks_of_older_versions_miss_counts_from_the_screen(facts, expected) -> None:
    assert describe_state(compute_state_after(8, *facts, agent="codex")) == expected


@pytest.mark.parametrize(("end", "expected"), [("error", "error transcript"), ("idle", "completed hook")])
def test_an_error_that_hooks_report_as_completed_counts_from_the_transcript(end, expected: str) -> None:
    ends = [build_signal(5, "hook", "completed"), build_signal(5.1, "transcript", end)]
    assert describe_state(compute_state_after(9, build_signal(1, "hook", "running"), ends)) == expected


def test_a_source_that_reports_all_dialogs_overrides_the_screen() -> None:
    assert (
        describe_state(
            compute_state_after(9, build_signal(1, "registry", "idle"), build_screen_signal(2, "waiting_approval"))
        )
        == "idle registry"
    )


def test_background_work_on_the_screen_is_not_a_contradiction() -> None:
    begun = [build_signal(0, "registry", "completed"), build_signal(1, "hook", kind="task_began", task="t")]
    one = compute_state_after(9, *begun, build_working_screens(2, 4, 8))
    assert (one.value, one.flags.subtasks, one.flags.contradicted) == ("running", 1, None)


@pytest.mark.parametrize(("last_sample", "is_contradicted"), [(6.9, False), (7, True)])
def test_a_long_contradiction_is_flagged_but_changes_nothing(last_sample: float, is_contradicted: bool) -> None:
    one = compute_state_after(9, build_signal(0, "registry", "idle"), build_working_screens(2, 4, last_sample))
    assert one.value == "idle"
    expected = StateContradiction(since=to_ns(2), by="screen", state="running") if is_contradicted else None
    assert one.flags.contradicted == expected
    assert one.confidence == ("medium" if is_contradicted else "high")


def test_a_screen_without_a_new_sample_contradicts_nothing() -> None:
    assert (
        compute_state_after(60, build_working_screens(1, 2), build_signal(3, "registry", "idle")).flags.contradicted
        is None
    )


def test_a_settling_screen_that_agrees_contradicts_nothing() -> None:
    moving = [build_screen_signal(9, "idle", moved=9), build_screen_signal(15, "idle", moved=15)]
    one = compute_state_after(15.1, build_signal(0, "registry", "idle"), build_working_screens(1, 3), moving)
    assert one.flags.contradicted is None


@pytest.mark.parametrize("end", ["completed", "error"])
def test_a_prompt_on_the_screen_does_not_contradict_an_end(end) -> None:
    assert (
        compute_state_after(20, build_signal(0, "registry", end), build_idle_screens(1, 9, 19)).flags.contradicted
        is None
    )


def test_only_running_and_waiting_are_overtaken_by_the_screen() -> None:
    one = compute_state_after(30, build_signal(0, "hook", "completed"), build_working_screens(2, 9, 29))
    assert (one.value, one.flags.contradicted) == (
        "completed",
        StateContradiction(since=to_ns(2), by="screen", state="running"),
    )


FLAGS: list[tuple[str, float, list[Facts], dict]] = [
    (
        "a limit lasts until its reset time",
        3599,
        [build_signal(0, "hook", "error", flags=LIMIT)],
        {"usage_limited": True},
    ),
    (
        "a limit ends at its reset time",
        3605,
        [build_signal(0, "hook", "error", flags=LIMIT)],
        {"usage_limited": False, "resets_at": None},
    ),
    (
        "a completed turn ends a limit",
        9,
        [build_signal(0, "hook", "error", flags=LIMIT), build_signal(5, "hook", "completed")],
        {"usage_limited": False},
    ),
    (
        "an old text on the screen does not set it again",
        9,
        [
            build_screen_signal(1, "idle", flags=FlagUpdate(usage_limited=True)),
            build_signal(5, "hook", "completed"),
            build_screen_signal(7, "idle", flags=FlagUpdate(usage_limited=True)),
        ],
        {"usage_limited": False},
    ),
    (
        "a new text on the screen sets it",
        9,
        [
            build_signal(5, "hook", "running"),
            build_screen_signal(7, "waiting_input", flags=FlagUpdate(usage_limited=True)),
        ],
        {"usage_limited": True},
    ),
    (
        "a compaction during work",
        2,
        [build_signal(1, "hook", "running", flags=FlagUpdate(compacting=True))],
        {"compacting": True},
    ),
    (
        "a compaction ends with the work",
        9,
        [build_signal(1, "hook", "running", flags=FlagUpdate(compacting=True)), build_signal(5, "registry", "idle")],
        {"compacting": False},
    ),
    (
        "a missing login",
        2,
        [build_signal(1, "osc", "waiting_input", flags=FlagUpdate(auth_needed=True))],
        {"auth_needed": True},
    ),
    (
        "a login that was completed",
        4,
        [
            build_signal(1, "osc", "waiting_input", flags=FlagUpdate(auth_needed=True)),
            build_signal(3, "osc", kind="note", flags=FlagUpdate(auth_needed=False)),
        ],
        {"auth_needed": False},
    ),
    ("two sub-tasks", 2, [build_signal(1, "hook", "completed", tasks=("a", "b"))], {"subtasks": 2}),
    (
        "two sub-tasks reported by two sources are two",
        3,
        [
            build_signal(1, "hook", "running", tasks=("a", "b")),
            build_signal(2, "registry", "running", tasks=("x", "y")),
        ],
        {"subtasks": 2},
    ),
]


@pytest.mark.parametrize(("seconds", "facts", "expected"), [one[1:] for one in FLAGS], ids=[one[0] for one in FLAGS])
def test_signals_of_several_sources_give_the_flags(seconds: float, facts: list[Facts], expected: dict) -> None:
    flags = compute_state_after(seconds, *facts).flags
    assert {name: getattr(flags, name) for name in expected} == expected


def test_a_limit_is_known_while_the_target_is_unreachable() -> None:
    away = TargetReachability(at=to_ns(2), target=LOCAL, is_reachable=False)
    one = compute_state_after(9, build_signal(0, "hook", "error", flags=LIMIT), away)
    assert (one.value, one.flags.resets_at) == ("unknown", to_ns(3605))


def test_the_next_change_is_computed() -> None:
    slots = build_knowledge(build_signal(0, "hook", "completed")).source_slots[ONE]
    assert find_next_change(slots, "claude_code", to_ns(1), DEFAULT_THRESHOLDS) == to_ns(120)
    assert find_next_change(slots, "claude_code", to_ns(120), DEFAULT_THRESHOLDS) == to_ns(600) + 1
    assert find_next_change(slots, "claude_code", to_ns(601), DEFAULT_THRESHOLDS) is None


def test_an_undeclared_source_is_ignored() -> None:
    slots = build_knowledge(build_signal(0, "hook", "running")).source_slots[ONE]
    assert resolve_state(slots, "codex", to_ns(1), Thresholds(sources={"codex": ()})).reason == "no_signal"


def test_an_unreachable_agent_is_unknown_and_keeps_what_lasts() -> None:
    slots = build_knowledge(build_signal(1, "hook", "running", flags=LIMIT)).source_slots[ONE]
    resolution = resolve_unreachable(slots, "claude_code", to_ns(2), DEFAULT_THRESHOLDS)
    assert (resolution.value, resolution.reason, resolution.leader) == ("unknown", "target_unreachable", None)
    assert (resolution.flags.usage_limited, resolution.flags.resets_at) == (True, LIMIT.resets_at)
    assert [reading.source.name for reading in resolution.readings] == ["hook"]


@pytest.mark.parametrize(("told", "expected"), [("completed", "idle"), ("error", "error")])
def test_the_screen_refines_an_end_but_no_error_of_a_source_that_reports_all_ends_alike(told, expected) -> None:
    sources = tuple(replace(one, blurs_ends=one.name == "hook") for one in SOURCES_BY_AGENT["claude_code"])
    thresholds = Thresholds(sources={"claude_code": sources})
    facts = [build_signal(1, "hook", told), build_idle_screens(2, 7)]
    assert compute_state_after(9, *facts, thresholds=thresholds).value == expected


@pytest.mark.parametrize(("shown_at", "expected"), [(5, "error"), (3, "idle")])
def test_an_end_that_is_still_shown_after_a_short_turn_counts(shown_at: int, expected: str) -> None:
    sources = tuple(replace(one, blurs_ends=one.name == "hook") for one in SOURCES_BY_AGENT["claude_code"])
    facts = [
        build_screen_signal(1, "error"),
        build_signal(4, "hook", "running"),
        build_signal(4.1, "hook", "idle"),
        build_screen_signal(shown_at, "error"),
    ]
    ordered = sorted(facts, key=lambda fact: fact.ingested_at)
    thresholds = Thresholds(sources={"claude_code": sources})
    assert compute_state_after(6, *ordered, thresholds=thresholds).value == expected


@pytest.mark.parametrize(("is_compacting", "expected"), [(True, "idle"), (False, "running")])
def test_a_prompt_ends_a_compaction_whose_end_is_not_reported(is_compacting: bool, expected: str) -> None:
    sources = tuple(replace(one, blurs_ends=one.name == "hook") for one in SOURCES_BY_AGENT["claude_code"])
    flags = FlagUpdate(compacting=is_compacting)
    facts = [build_signal(1, "hook", "running", flags=flags), *build_idle_screens(2, 4, 6, 8)]
    thresholds = Thresholds(sources={"claude_code": sources})
    assert compute_state_after(9, *facts, thresholds=thresholds).value == expected
