"""Scenes: what sources say of an agent, and what it is therefore said to be doing."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.resolver import next_change_at, resolve
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.agent_process import Fact, PaneMissed, TargetReached
from termvisor.model.agent.signal import FlagsTold, Signal
from termvisor.model.agent.state import AgentState, Contradiction
from termvisor.model.ids import PaneId
from tests.declared import DEFAULT, SOURCES
from tests.unit.agents.state.scene import LOCAL, ONE, at, knowing, resting, says, shows, state, working

Heard = Fact | list[Signal]


def _title(seconds: float, name: str) -> Signal:
    """The title, where the agent itself speaks in it."""
    return says(seconds, "title", name, tier="deterministic")


ASKING = [says(1, "hook", "waiting_input"), _title(1, "waiting_approval")]
LIMIT = FlagsTold(usage_limited=True, resets_at=at(3605))
BEATING = Measure(sources={"claude_code": tuple(replace(one, beats=one.rank < 4) for one in SOURCES["claude_code"])})

SCENES: list[tuple[str, float, list[Heard], str]] = [
    ("nobody has said anything", 1, [], "unknown no_signal"),
    ("its own word counts", 1, [says(0, "hook", "running")], "running hook"),
    ("a better source first", 2, [says(1, "hook", "running"), says(1, "registry", "idle")], "idle registry"),
    ("also when the other is newer", 3, [says(1, "registry", "idle"), says(2, "hook", "running")], "idle registry"),
    ("equals: what matters more", 3, [says(1, "registry", "running"), says(2, "osc", "idle")], "running registry"),
    ("equals that agree: the newer", 3, [says(1, "registry", "running"), says(2, "osc", "running")], "running osc"),
    ("its word before the screen", 9, [says(0, "hook", "running"), resting(1, 3, 5)], "running hook"),
    ("the screen, where it is silent", 3, [working(1, 2)], "running screen"),
    ("a dialog is seen at once", 1, [shows(1, "waiting_input")], "waiting_input screen"),
    ("a strange screen is not idle", 90, [shows(n, "unknown") for n in range(0, 90, 2)], "unknown unknown_screen"),
    ("a prompt is not idle at once", 3, [resting(1, 3)], "unknown no_signal"),
    ("but after a while it is", 5.1, [resting(1, 3, 5)], "idle screen"),
    ("a hook is believed for ten minutes", 600, [says(0, "hook", "running")], "running hook"),
    ("and no longer", 601, [says(0, "hook", "running")], "unknown stale_signal"),
    ("unless the screen agrees", 640, [says(0, "hook", "running"), working(590, 620, 639)], "running hook"),
    ("a heartbeat keeps a word alive", 700, [says(0, "registry", "idle"), says(300, "registry")], "idle registry"),
    ("a look is believed for a while", 92, [working(1)], "unknown stale_signal"),
    (
        "a source that cannot be heard",
        3,
        [says(0, "hook", "running"), says(1, "hook", kind="source_down")],
        "unknown stale_signal",
    ),
    (
        "words nobody understands",
        3,
        [says(0, "registry", "unknown", reason="unsupported_signal")],
        "unknown unsupported_signal",
    ),
    (
        "not to know is no knowledge: the screen may know",
        3,
        [says(0, "registry", "unknown", reason="unsupported_signal"), working(1, 2)],
        "running screen",
    ),
    ("output is missing", 9, [says(0, "osc", "running"), PaneMissed(at=at(5), pane=PaneId(7))], "unknown gap"),
    (
        "and it speaks again",
        9,
        [says(0, "osc", "running"), PaneMissed(at=at(5), pane=PaneId(7)), says(6, "osc", "idle")],
        "idle osc",
    ),
    (
        "a gap in the output hides no file",
        9,
        [says(0, "registry", "running"), PaneMissed(at=at(5), pane=PaneId(7))],
        "running registry",
    ),
    (
        "an error the registry cannot tell",
        3,
        [says(1, "registry", "idle"), says(1.1, "hook", "error")],
        "error hook",
    ),
    ("an end that it cannot tell", 3, [says(1, "hook", "completed"), says(1.2, "registry", "idle")], "completed hook"),
    (
        "an old error is over when the registry saw work since",
        60,
        [says(1, "hook", "error"), says(9, "registry", "running"), says(40, "registry", "idle")],
        "idle registry",
    ),
    ("an interrupt without a hook", 30, [says(0, "hook", "running"), resting(2, 8, 20)], "idle screen"),
    (
        "then it speaks again and is believed at once",
        30,
        [says(0, "hook", "running"), resting(2, 8, 20), says(29, "hook", "running")],
        "running hook",
    ),
    ("a source without holes stands", 30, [says(0, "registry", "running"), resting(2, 8, 20)], "running registry"),
    (
        "an answer without a hook",
        30,
        [says(0, "hook", "waiting_approval"), working(2, 8, 20)],
        "running screen",
    ),
    ("a finished task", 119, [says(0, "hook", "completed")], "completed hook"),
    ("is idle later", 120, [says(0, "hook", "completed")], "idle hook"),
    ("a finished turn with a sub-agent at work", 3, [says(1, "hook", "completed", tasks=("a",))], "running hook"),
    (
        "and when that ends",
        5,
        [says(1, "hook", "completed", tasks=("a",)), says(4, "hook", kind="task_ended", task="a")],
        "completed hook",
    ),
    (
        "the machine does not answer",
        3,
        [says(1, "hook", "running"), TargetReached(at=at(2), target=LOCAL, is_reachable=False)],
        "unknown target_unreachable",
    ),
    (
        "and answers again",
        5,
        [
            says(1, "hook", "running"),
            TargetReached(at=at(2), target=LOCAL, is_reachable=False),
            TargetReached(at=at(4), target=LOCAL, is_reachable=True),
        ],
        "running hook",
    ),
]


def told(one: AgentState) -> str:
    return f"{one.value} {one.reason or one.source}"


@pytest.mark.parametrize(("seconds", "heard", "expected"), [one[1:] for one in SCENES], ids=[one[0] for one in SCENES])
def test_a_scene(seconds: float, heard: list[Heard], expected: str) -> None:
    assert told(state(seconds, *heard)) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(3, "running registry"), (3.1, "idle screen"), (16, "idle screen"), (20, "running registry")],
)
def test_a_source_that_promises_heartbeats_is_not_believed_in_silence_and_at_once_when_back(
    seconds: float, expected: str
) -> None:
    heard: list[Heard] = [says(0, "registry", "running"), resting(-6, -2, 2, moved=-9)]
    back = [says(19, "registry")] if seconds > 19 else []
    assert told(state(seconds, *heard, back, measure=BEATING)) == expected


def test_codex_believes_its_server_first_then_the_marks_in_its_output() -> None:
    marks, hook = says(1, "osc", "waiting_approval"), says(2, "hook", "running")
    assert told(state(3, marks, hook, agent="codex")) == "waiting_approval osc"
    assert told(state(3, marks, hook, says(1, "app_server", "idle"), agent="codex")) == "idle app_server"


def test_the_end_of_a_turn_is_not_taken_for_the_end_of_the_next_one() -> None:
    first = [says(1, "app_server", "idle"), says(1, "notify", "completed")]
    second = [says(1.5, "app_server", "running"), says(2, "app_server", "idle")]
    assert told(state(3, *first, *second, agent="codex")) == "completed notify", "as far as one can tell"
    assert told(state(3, *first, *second, says(2, "osc", "idle"), agent="codex")) == "idle app_server"
    assert told(state(3, *first, says(0.9, "osc", "idle"), agent="codex")) == "completed notify"


ENDS = [says(1, "registry", "running"), says(1, "hook", "running"), says(5, "registry", "idle")]


@pytest.mark.parametrize(
    ("seconds", "heard", "expected"),
    [
        (5.1, [], "running registry"),
        (5.1, [says(5.05, "transcript", "completed")], "completed transcript"),
        (5.1, [says(5.05, "hook", "error")], "error hook"),
        (5.3, [], "idle registry"),
    ],
    ids=["not yet", "the end was a good one", "it was a bad one", "nobody tells of an end: it was stopped"],
)
def test_rest_is_believed_when_those_who_know_the_kind_of_end_had_time_to_tell_it(seconds, heard, expected) -> None:
    assert told(state(seconds, *ENDS, *heard)) == expected


def test_between_two_turns_nobody_is_idle_for_a_moment() -> None:
    """The next prompt is told by a hook first, and in the registry some milliseconds later."""
    turns = [*ENDS, says(5.05, "hook", "completed"), says(9, "hook", "running")]
    assert told(state(9.01, *turns)) == "completed hook"
    assert told(state(9.05, *turns, says(9.04, "registry", "running"))) == "running registry"
    assert told(state(9.3, *turns)) == "idle registry", "the registry knows better than a hook that came late"


def test_a_first_rest_is_believed_at_once() -> None:
    assert told(state(1, says(1, "registry", "idle"))) == "idle registry"


def test_when_the_wait_for_the_kind_of_an_end_is_over_the_answer_changes_by_itself() -> None:
    ledger = knowing(*ENDS).ledgers[ONE]
    assert next_change_at(ledger, "claude_code", at(5.1), DEFAULT) == at(5) + DEFAULT.settled_after


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        ([says(1, "hook", "waiting_approval"), _title(2, "idle")], "idle title"),
        ([_title(1, "idle"), says(2, "hook", "running")], "running hook"),
        ([says(1, "hook", "waiting_input"), _title(1.2, "waiting_approval")], "waiting_input hook"),
        ([says(1, "hook", "completed"), _title(1.1, "idle")], "completed hook"),
    ],
    ids=["a refusal, told by no hook", "the hook is first", "the title knows no kinds of questions", "nor of ends"],
)
def test_of_equals_with_holes_the_later_word_counts(heard, expected) -> None:
    assert told(state(4, *heard, agent="gemini")) == expected


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ([resting(2, 4, 6, 8)], "idle screen"),
        ([shows(2, "error")], "error screen"),
        ([shows(2, "completed")], "completed hook"),
        ([shows(0.5, "error")], "completed hook"),
        ([], "completed hook"),
    ],
    ids=["stopped", "failed", "well", "an error of the turn before", "not looked at"],
)
def test_where_an_agent_tells_every_end_alike_the_screen_shows_which_one_it_was(looks, expected) -> None:
    ended = [says(0, "hook", "running"), says(1, "hook", "completed")]
    assert told(state(9, *ended, *looks, agent="gemini")) == expected
    assert told(state(9, *ended, *looks)) == "completed hook", "who tells them apart is believed"


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        ([_title(1, "idle"), shows(2, "waiting_approval")], "waiting_approval screen"),
        ([shows(0.5, "waiting_approval"), _title(1, "idle")], "idle title"),
        ([shows(0.5, "waiting_approval"), _title(1, "idle"), shows(6, "waiting_approval")], "waiting_approval screen"),
        ([says(1, "hook", "running"), shows(2, "waiting_input")], "waiting_input screen"),
        ([says(1, "hook", "running"), shows(2, "waiting_input"), says(3, "hook", "completed")], "completed hook"),
        ([_title(1, "waiting_approval"), shows(2, "waiting_input")], "waiting_input screen"),
        ([_title(2, "waiting_approval"), shows(1, "waiting_input")], "waiting_approval title"),
        ([*ASKING, shows(2, "waiting_input")], "waiting_input hook"),
    ],
    ids=[
        "no word of it", "not looked at since", "it stands there still", "at work, it says", "it is gone by now",
        "another kind of question", "that was the one before", "one who knows the kind is believed",
    ],
)  # fmt: skip
def test_a_dialog_of_which_an_agent_has_no_word_is_believed_when_it_is_seen(heard, expected) -> None:
    assert told(state(9, *heard, agent="gemini")) == expected


def test_who_misses_no_dialog_is_believed_before_the_screen() -> None:
    assert told(state(9, says(1, "registry", "idle"), shows(2, "waiting_approval"))) == "idle registry"


def test_work_in_the_background_that_the_screen_shows_too_is_no_contradiction() -> None:
    begun = [says(0, "registry", "completed"), says(1, "hook", kind="task_began", task="t")]
    one = state(9, *begun, working(2, 4, 8))
    assert (one.value, one.flags.subtasks, one.flags.contradicted) == ("running", 1, None)


@pytest.mark.parametrize(("last_look", "is_contradicted"), [(6.9, False), (7, True)])
def test_a_screen_that_shows_something_else_for_long_is_shown_and_flips_nothing(
    last_look: float, is_contradicted: bool
) -> None:
    one = state(9, says(0, "registry", "idle"), working(2, 4, last_look))
    assert one.value == "idle"
    expected = Contradiction(since=at(2), by="screen", state="running") if is_contradicted else None
    assert one.flags.contradicted == expected
    assert one.confidence == ("medium" if is_contradicted else "high")


def test_a_screen_that_was_not_looked_at_since_contradicts_nobody() -> None:
    assert state(60, working(1, 2), says(3, "registry", "idle")).flags.contradicted is None


def test_a_screen_that_shows_the_same_by_now_contradicts_nobody_while_it_settles() -> None:
    moving = [shows(9, "idle", moved=9), shows(15, "idle", moved=15)]
    one = state(15.1, says(0, "registry", "idle"), working(1, 3), moving)
    assert one.flags.contradicted is None


@pytest.mark.parametrize("end", ["completed", "error"])
def test_a_prompt_on_the_screen_does_not_contradict_an_end(end) -> None:
    assert state(20, says(0, "registry", end), resting(1, 9, 19)).flags.contradicted is None


def test_only_work_and_questions_are_overtaken_by_a_screen() -> None:
    one = state(30, says(0, "hook", "completed"), working(2, 9, 29))
    assert (one.value, one.flags.contradicted) == (
        "completed",
        Contradiction(since=at(2), by="screen", state="running"),
    )


FLAGS: list[tuple[str, float, list[Heard], dict]] = [
    ("a limit until its end", 3599, [says(0, "hook", "error", flags=LIMIT)], {"usage_limited": True}),
    ("and no longer", 3605, [says(0, "hook", "error", flags=LIMIT)], {"usage_limited": False, "resets_at": None}),
    (
        "a turn that ended well ends a limit",
        9,
        [says(0, "hook", "error", flags=LIMIT), says(5, "hook", "completed")],
        {"usage_limited": False},
    ),
    (
        "an old text on the screen does not bring it back",
        9,
        [
            shows(1, "idle", flags=FlagsTold(usage_limited=True)),
            says(5, "hook", "completed"),
            shows(7, "idle", flags=FlagsTold(usage_limited=True)),
        ],
        {"usage_limited": False},
    ),
    (
        "a new one does",
        9,
        [says(5, "hook", "running"), shows(7, "waiting_input", flags=FlagsTold(usage_limited=True))],
        {"usage_limited": True},
    ),
    (
        "a compaction is work",
        2,
        [says(1, "hook", "running", flags=FlagsTold(compacting=True))],
        {"compacting": True},
    ),
    (
        "and over when the work is",
        9,
        [says(1, "hook", "running", flags=FlagsTold(compacting=True)), says(5, "registry", "idle")],
        {"compacting": False},
    ),
    ("a missing login", 2, [says(1, "osc", "waiting_input", flags=FlagsTold(auth_needed=True))], {"auth_needed": True}),
    (
        "and it was made good",
        4,
        [
            says(1, "osc", "waiting_input", flags=FlagsTold(auth_needed=True)),
            says(3, "osc", kind="note", flags=FlagsTold(auth_needed=False)),
        ],
        {"auth_needed": False},
    ),
    ("two at work", 2, [says(1, "hook", "completed", tasks=("a", "b"))], {"subtasks": 2}),
    (
        "the same two told by two sources are two",
        3,
        [says(1, "hook", "running", tasks=("a", "b")), says(2, "registry", "running", tasks=("x", "y"))],
        {"subtasks": 2},
    ),
]


@pytest.mark.parametrize(("seconds", "heard", "expected"), [one[1:] for one in FLAGS], ids=[one[0] for one in FLAGS])
def test_flags(seconds: float, heard: list[Heard], expected: dict) -> None:
    flags = state(seconds, *heard).flags
    assert {name: getattr(flags, name) for name in expected} == expected


def test_a_limit_is_known_also_while_the_machine_does_not_answer() -> None:
    away = TargetReached(at=at(2), target=LOCAL, is_reachable=False)
    one = state(9, says(0, "hook", "error", flags=LIMIT), away)
    assert (one.value, one.flags.resets_at) == ("unknown", at(3605))


def test_it_says_when_to_ask_again() -> None:
    ledger = knowing(says(0, "hook", "completed")).ledgers[ONE]
    assert next_change_at(ledger, "claude_code", at(1), DEFAULT) == at(120)
    assert next_change_at(ledger, "claude_code", at(120), DEFAULT) == at(600) + 1
    assert next_change_at(ledger, "claude_code", at(601), DEFAULT) is None


def test_a_source_that_is_no_longer_declared_is_not_asked() -> None:
    ledger = knowing(says(0, "hook", "running")).ledgers[ONE]
    assert resolve(ledger, "codex", at(1), Measure(sources={"codex": ()})).reason == "no_signal"
