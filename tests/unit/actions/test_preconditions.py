"""Each precondition refuses the actions that it is for."""

import pytest
from msgspec.structs import replace

from termvisor.actions.attempt import Attempt
from termvisor.actions.pane_snapshot import PaneForeground, PaneSnapshot
from termvisor.actions.policy_check import PolicyDecision
from termvisor.actions.precondition_failure import PreconditionFailure, build_guard_error, build_stale_error
from termvisor.actions.preconditions import bind_dialog_rows, find_failed_precondition, matches_pattern
from termvisor.backends.pane_control import GuardMismatch, PaneViewer
from termvisor.clock import NS
from termvisor.errors import BadRequest, Conflict, StaleSnapshot
from termvisor.model.action.action import Actor, AnswerDialog, Interrupt, Kill, QuitAgent, SendKeys, SendText
from termvisor.model.action.approval import Reservation, combine_reasons
from termvisor.model.action.preconditions import Preconditions, UndoPrecondition
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import InputState, PaneActivity, PaneInstance, PaneView
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import SERVER, build_shell_facts
from tests.unit.actions.scripted_screen import build_pane_view, build_snapshot
from tests.unit.actions.test_input_line import screen
from tests.unit.agents.adapters.codex.test_screen import ASKED, FOOT, HITS

ME = Actor(kind="robot", uid=1000, pid=9)
VIEW = PaneView(
    id=PaneId(1),
    instance=PaneInstance(SERVER, "%1"),
    facts=build_shell_facts("%1", pid=7),
    activity=PaneActivity(kind="prompt", is_proven=True),
    last_output_at=NOON - 10 * NS,
)
SEEN = screen("done", "$ ", x=2, y=1)
READY = PaneSnapshot(
    view=VIEW, pane_state=SEEN, input_place=InputState(2, True), observed_at=NOON, tail=("building", "done")
)


def build_attempt(action, actor: Actor = ME, **preconditions) -> Attempt:
    return Attempt(
        action=action,
        actor=actor,
        preconditions=Preconditions(**preconditions),
        decision=PolicyDecision(action=action, verdict=combine_reasons(())),
    )


def find_why(snapshot: PaneSnapshot = READY, action=None, **preconditions) -> str | None:
    attempt = build_attempt(action or SendText(pane=PaneId(1), text="make test"), **preconditions)
    failure = find_failed_precondition(snapshot, attempt, NOON)
    return None if failure is None else failure.why


def build_send_text(words: str, **more) -> SendText:
    return SendText(pane=PaneId(1), text=words, **more)


def build_changed_snapshot(**changes) -> PaneSnapshot:
    return replace(READY, pane_state=replace(SEEN, **changes))


def build_snapshot_with_activity(kind: str, *, is_proven: bool = True) -> PaneSnapshot:
    return replace(READY, view=replace(VIEW, activity=PaneActivity(kind=kind, is_proven=is_proven)))


def test_a_proven_prompt_with_nothing_typed_is_ready():
    assert find_why() is None


@pytest.mark.parametrize(
    ("snapshot", "reason"),
    [
        (replace(READY, view=replace(VIEW, gone_at=NOON)), "pane_gone"),
        (build_changed_snapshot(pid=8), "stale_pid"),
        (replace(READY, observed_at=NOON - 3 * NS), "stale_snapshot"),
        (build_changed_snapshot(dead=True), "pane_dead"),
        (build_changed_snapshot(in_mode=True), "copy_mode"),
        (build_changed_snapshot(input_off=True), "input_off"),
        (build_changed_snapshot(synchronized=True), "synchronized"),
        (build_changed_snapshot(alternate=True), "alternate_screen"),
        (build_changed_snapshot(viewers=(PaneViewer("/dev/pts/3", NOON - NS),)), "human_typing"),
        (build_changed_snapshot(viewers=(PaneViewer("/dev/pts/3", NOON - 4 * NS),)), None),
        (build_changed_snapshot(rows=("done", "$ half a dra"), cursor_x=12), "input_not_empty"),
        (build_changed_snapshot(rows=("done", "$ half a dra"), cursor_x=2), "input_not_empty"),
        (build_changed_snapshot(cursor_x=0), "prompt_not_found"),
        (build_snapshot_with_activity("command"), "not_at_prompt"),
        (build_snapshot_with_activity("unknown"), "not_at_prompt"),
        (build_snapshot_with_activity("prompt", is_proven=False), "unproven_prompt"),
        (replace(READY, input_place=InputState(None, True)), "prompt_not_found"),
        (replace(READY, is_in_gap=True), "recent_gap"),
    ],
)
def test_each_failed_precondition_has_its_code(snapshot, reason):
    assert find_why(snapshot) == reason


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "nothing_to_see"),
        ("$ > ", "nothing_to_see"),
        ("x" * (1 << 20) + "y", "too_long"),
        ("a\x1b[A", "control_characters"),
        ("a\0b", "control_characters"),
        ("a\rb", "control_characters"),
        ("a\x9bb", "control_characters"),
        ("two\nlines", None),
        ("a\tb", None),
        ("end;", None),
        ("日本", None),
        ("/usr/bin/true", None),
    ],
)
def test_texts_that_cannot_be_typed_safely_are_refused(words, reason):
    assert find_why(action=build_send_text(words)) == reason


@pytest.mark.parametrize(("words", "reason"), [("two\nlines", "multi_line"), ("a\tb", "popup_text")])
@pytest.mark.parametrize("is_paste_on", [False, None])
def test_lines_and_tabs_need_a_program_that_takes_pastes(words, reason, is_paste_on):
    assert find_why(replace(READY, input_place=InputState(2, is_paste_on)), build_send_text(words)) == reason


def test_a_program_gets_text_only_if_the_caller_allows_it():
    running = build_snapshot_with_activity("command")
    empty = replace(running, pane_state=replace(SEEN, rows=("done", ""), cursor_x=0))
    assert find_why(empty) == "not_at_prompt"
    assert find_why(empty, into="program") is None
    assert find_why(empty, build_send_text("/help"), into="program") == "popup_text"
    drafted = replace(empty, pane_state=replace(SEEN, rows=("done", "draft"), cursor_x=5))
    assert find_why(drafted, into="program") == "input_not_empty"
    full = replace(empty, pane_state=replace(empty.pane_state, alternate=True))
    assert find_why(full, into="program") == "alternate_screen"
    assert find_why(full, build_send_text("hello", into_screen=True), into="program") is None


def test_only_the_owner_may_act_on_a_reserved_pane():
    held = replace(READY, reservation=Reservation(pane=PaneId(1), owner="ann", at=0, expires_at=NOON + 1))
    assert find_why(held) == "reserved"
    assert find_why(held, owner="bob") == "reserved"
    assert find_why(held, owner="ann") is None
    assert find_why(held, overrides_reservation=True) == "reserved"
    assert find_why(replace(held, reservation=replace(held.reservation, expires_at=NOON))) is None


@pytest.mark.parametrize(
    "action", [build_send_text("x"), SendKeys(pane=PaneId(1), keys=("C-c",)), Kill(pane=PaneId(1))]
)
def test_a_caller_does_not_act_on_its_own_pane(action):
    attempt = build_attempt(action, replace(ME, pane=PaneId(1)))
    failure = find_failed_precondition(READY, attempt, NOON)
    assert failure is not None and failure.why == "own_pane"


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ({"runtime": 7}, "if_runtime"),
        ({"states": frozenset({"prompt", "idle"})}, None),
        ({"states": frozenset({"command"})}, "if_state"),
        ({"at_prompt": True}, None),
        ({"is_ready": True}, "if_ready"),
        ({"updated_within": 20}, None),
        ({"updated_within": 5}, "if_updated_within"),
        ({"screen": "done"}, None),
        ({"screen": "/d.ne/"}, None),
        ({"screen": "failed"}, "if_screen"),
        ({"tail": "^done$"}, None),
        ({"tail": "building", "tail_lines": 1}, "if_tail"),
        ({"tail": "done", "stable_for": 20.0}, "if_tail"),
    ],
)
def test_the_preconditions_of_the_caller_must_hold(conditions, reason):
    assert find_why(**conditions) == reason


def test_a_failure_has_expected_and_actual_value():
    failure = find_failed_precondition(READY, build_attempt(build_send_text("x"), runtime=8), NOON)
    assert failure is not None and (failure.expected, failure.actual) == ("8", "no agent")


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ({"runtime": 1}, None),
        ({"runtime": 2}, "if_runtime"),
        ({"states": frozenset({"idle", "completed"})}, None),
        ({"states": frozenset({"alt_screen"})}, None),
        ({"states": frozenset({"running", "prompt"})}, "if_state"),
        ({"states": frozenset({"unknown"})}, "if_state"),
    ],
)
def test_the_state_and_process_of_the_agent_may_be_required(conditions, reason):
    snapshot = build_snapshot(HELLO)
    failure = find_failed_precondition(snapshot, build_attempt(SEND, **conditions), snapshot.observed_at)
    assert (failure.why if failure else None) == reason


def test_an_unknown_activity_is_not_the_state_of_an_agent():
    snapshot = build_snapshot(HELLO, view=replace(build_pane_view(), activity=PaneActivity(kind="unknown")))
    attempt = build_attempt(SEND, states=frozenset({"unknown"}))
    failure = find_failed_precondition(snapshot, attempt, snapshot.observed_at)
    assert failure is not None and (failure.why, failure.actual) == ("if_state", "idle")


def test_an_old_snapshot_may_be_forced():
    old = replace(READY, observed_at=NOON - 60 * NS)
    assert find_why(old) == "stale_snapshot"
    assert find_why(old, force_stale=True) is None


def test_an_invalid_pattern_is_a_bad_request():
    with pytest.raises(BadRequest):
        matches_pattern("/(/", "text")


HELLO = ("• Hello.", *FOOT)
DRAFT = ("• Hello.", "› half a thought", "", "  gpt-6 default · ~/src")
BEGUN = tuple(row.replace("Ask Codex to do anything", "half a thought") for row in HITS["turn_ended"])
SEND = SendText(pane=PaneId(1), text="go on")


@pytest.mark.parametrize(
    ("rows", "state", "has_agent_server", "action", "why"),
    [
        (HELLO, "idle", False, SEND, None),
        (HELLO, "running", True, SEND, None),
        (DRAFT, "idle", False, SEND, "composer_not_empty"),
        (DRAFT, "idle", True, SEND, None),
        (DRAFT, "idle", True, SendText(pane=PaneId(1), text="go on", enter=False), "composer_not_empty"),
        (ASKED, "idle", True, SEND, "dialog_open"),
        (HELLO, "waiting_approval", True, SEND, "dialog_open"),
        (("what is this",), "idle", False, SEND, "unknown_screen"),
        (HELLO, "idle", False, SendText(pane=PaneId(1), text="/quit"), "popup_text"),
        (HELLO, "idle", True, SendText(pane=PaneId(1), text="/tmp is full"), None),
        (HELLO, "idle", False, Interrupt(pane=PaneId(1), agent="codex"), "not_at_work"),
        (HITS["working"], "running", False, Interrupt(pane=PaneId(1), agent="codex"), None),
        (HITS["working"], "running", False, Interrupt(pane=PaneId(1), agent="gemini"), "other_agent"),
        (HITS["working"], "running", False, QuitAgent(pane=PaneId(1), agent="codex"), "at_work"),
        (BEGUN, "idle", False, QuitAgent(pane=PaneId(1), agent="codex"), "composer_not_empty"),
        (HITS["turn_ended"], "completed", False, QuitAgent(pane=PaneId(1), agent="codex"), None),
        (HELLO, "idle", False, AnswerDialog(pane=PaneId(1), agent="codex", choice="allow"), "no_such_choice"),
        (ASKED, "waiting_approval", False, AnswerDialog(pane=PaneId(1), agent="codex", choice="allow"), None),
    ],
)
def test_an_action_on_an_agent_must_fit_its_screen(rows, state, has_agent_server, action, why):
    snapshot = build_snapshot(rows, state=state, has_agent_server=has_agent_server, takes_prompts=has_agent_server)
    failure = find_failed_precondition(
        snapshot, build_attempt(bind_dialog_rows(action, snapshot)), snapshot.observed_at
    )
    assert (failure.why if failure else None) == why


@pytest.mark.parametrize(
    ("rows", "has_shown_dialog", "why"),
    [
        (HITS["turn_ended"], True, None),
        (HELLO, False, "dialog_open"),  # reported, but not drawn yet
        (ASKED, True, "dialog_open"),
        (("a dialog of another version",), True, "dialog_open"),
    ],
)
def test_a_dialog_that_the_screen_no_longer_shows_is_gone(rows, has_shown_dialog, why):
    snapshot = build_snapshot(rows, state="waiting_approval")
    snapshot = replace(snapshot, agent=replace(snapshot.agent, has_shown_dialog=has_shown_dialog))
    failure = find_failed_precondition(snapshot, build_attempt(SEND), snapshot.observed_at)
    assert (failure.why if failure else None) == why


@pytest.mark.parametrize(("rows", "why"), [(DRAFT, "composer_not_empty"), (HELLO, None)])
def test_a_required_empty_composer_is_checked_also_for_the_server(rows, why):
    snapshot = build_snapshot(rows, state="idle", has_agent_server=True, takes_prompts=True)
    failure = find_failed_precondition(snapshot, build_attempt(SEND, is_input_empty=True), snapshot.observed_at)
    assert (failure.why if failure else None) == why


def test_an_answer_is_bound_to_the_shown_dialog():
    snapshot = build_snapshot(ASKED, state="waiting_approval")
    action = bind_dialog_rows(AnswerDialog(pane=PaneId(1), agent="codex", choice="allow"), snapshot)
    other = build_snapshot([row.replace("touch x", "rm -r y") for row in ASKED], state="waiting_approval")
    failure = find_failed_precondition(other, build_attempt(action), other.observed_at)
    assert failure is not None
    assert failure.why == "dialog_changed"


def test_a_shell_in_front_of_a_stopped_agent_is_no_agent():
    assert build_snapshot(["x"], foreground=PaneForeground(7)).interaction is not None
    assert build_snapshot(["x"], foreground=PaneForeground(7, is_shell=True)).interaction is None


def test_a_shell_at_its_prompt_is_no_agent():
    snapshot = build_snapshot(HELLO, view=replace(build_pane_view(), activity=PaneActivity(kind="prompt")))
    assert snapshot.interaction is None


TYPED = replace(
    READY, pane_state=replace(SEEN, rows=("done", "$ make"), cursor_x=6), undo_target=UndoPrecondition(
        correlation="c", is_typed=True
    ), holds_own_text=True,
)  # fmt: skip
CLEAR = SendKeys(pane=PaneId(1), keys=("C-u",))


def build_undo(pane_state=SEEN, child_count=None, **target) -> PaneSnapshot:
    undo_target = UndoPrecondition(correlation="c", **target)
    return replace(READY, undo_target=undo_target, pane_state=pane_state, child_count=child_count)


@pytest.mark.parametrize(
    ("snapshot", "why"),
    [
        (TYPED, None),
        (replace(TYPED, holds_own_text=False), "input_changed"),
        (replace(TYPED, pane_state=replace(TYPED.pane_state, rows=("done", "$ make x"))), "input_changed"),
        (replace(TYPED, input_place=InputState(None, True)), "input_changed"),
        (replace(TYPED, pane_state=replace(TYPED.pane_state, alternate=True)), "not_at_prompt"),
        (replace(TYPED, view=replace(VIEW, activity=PaneActivity(kind="prompt"))), "not_at_prompt"),
        (replace(TYPED, view=replace(VIEW, activity=PaneActivity(kind="command", is_proven=True))), "not_at_prompt"),
        (build_undo(replace(SEEN, title="new"), title="new"), None),
        (build_undo(replace(SEEN, title="newer"), title="new"), "title_changed"),
        (build_undo(replace(SEEN, front="%1"), front="%1"), None),
        (build_undo(replace(SEEN, front="%2"), front="%1"), "front_changed"),
        (build_undo(child_count=0, is_alone=True), None),
        (build_undo(child_count=1, is_alone=True), "other_programs"),
        (build_undo(child_count=None, is_alone=True), "other_programs"),
        (build_undo(child_count=1), None),
    ],
)
def test_only_an_unchanged_effect_is_undone(snapshot, why):
    assert find_why(snapshot, CLEAR) == why


@pytest.mark.parametrize(("age", "why"), [(0, None), (2 * NS, None), (2 * NS + 1, "stale_snapshot")])
def test_a_snapshot_is_good_for_two_seconds(age, why):
    assert find_why(replace(READY, observed_at=NOON - age)) == why


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ({"updated_within": 10.0}, None),
        ({"updated_within": 9.999}, "if_updated_within"),
        ({"tail": "done", "stable_for": 10.0}, None),
        ({"tail": "done", "stable_for": 10.001}, "if_tail"),
    ],
)
def test_the_age_of_the_last_output_is_compared_exactly(conditions, why):
    assert find_why(**conditions) == why


def test_a_pane_without_output_was_never_updated_and_is_stable():
    silent = replace(READY, view=replace(VIEW, last_output_at=None))
    assert find_why(silent, updated_within=60.0) == "if_updated_within"
    assert find_why(silent, tail="done", stable_for=60.0) is None
    failure = find_failed_precondition(silent, build_attempt(build_send_text("x"), updated_within=60.0), NOON)
    assert failure == PreconditionFailure("if_updated_within", "the last output is too old", "60 s", "never")


@pytest.mark.parametrize(
    ("actor", "action", "allows", "why"),
    [
        ("robot", CLEAR, False, "human_typing"),
        ("human", CLEAR, False, None),
        ("human", SendText(pane=PaneId(1), text="x"), False, "human_typing"),
        ("robot", CLEAR, True, None),
        ("robot", Kill(pane=PaneId(1)), False, None),
    ],
)
def test_only_a_person_may_press_keys_beside_a_person(actor, action, allows, why):
    typing = build_changed_snapshot(viewers=(PaneViewer("/dev/pts/3", NOON - NS),))
    attempt = build_attempt(action, replace(ME, kind=actor))
    attempt = replace(attempt, decision=replace(attempt.decision, allows_typing_beside_people=allows))
    failure = find_failed_precondition(typing, attempt, NOON)
    assert (failure.why if failure else None) == why


def test_an_unproven_prompt_may_be_allowed_and_keys_need_no_gapless_capture_by_force():
    unproven = build_snapshot_with_activity("prompt", is_proven=False)
    attempt = build_attempt(build_send_text("x"))
    allowed = replace(attempt, decision=replace(attempt.decision, allows_unproven=True))
    assert find_failed_precondition(unproven, allowed, NOON) is None
    gap = replace(READY, is_in_gap=True)
    assert [find_why(gap, CLEAR), find_why(gap, CLEAR, force_stale=True), find_why(gap, Kill(pane=PaneId(1)))] == [
        "recent_gap", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("failure", "kind", "message", "details"),
    [
        (PreconditionFailure("a", "text"), StaleSnapshot, "nothing was done: text", {}),
        (
            PreconditionFailure("a", "text", "x", "y"), StaleSnapshot,
            "nothing was done: text (expected x, found y)", {"expected": "x", "actual": "y"},
        ),
        (
            PreconditionFailure("a", "text", "", "y"), StaleSnapshot,
            "nothing was done: text", {"expected": "", "actual": "y"},
        ),
        (PreconditionFailure("reserved", "text"), Conflict, "nothing was done: text", {}),
    ],
)  # fmt: skip
def test_a_failure_becomes_an_error_with_its_code(failure, kind, message, details):
    error = failure.build_error("c")
    assert (type(error), error.message) == (kind, message)
    assert error.details == {"outcome": "refused", "why": failure.why, "correlation": "c"} | details
    assert "correlation" not in failure.build_error().details


@pytest.mark.parametrize(("is_first", "text"), [(True, "nothing was done"), (False, "nothing more was done")])
def test_a_guard_that_failed_is_an_error_with_what_was_found(is_first, text):
    error = build_guard_error(GuardMismatch("pid", "7", "8"), is_first=is_first)
    assert error.message == f"{text}: expected 7, found 8"
    assert error.details == {"outcome": "refused", "why": "stale_pid", "expected": "7", "actual": "8"}
    assert build_stale_error("a", "text").details == {"outcome": "refused", "why": "a"}


@pytest.mark.parametrize("agent", ["generic", None])
@pytest.mark.parametrize(
    "action",
    [
        Interrupt(pane=PaneId(1), agent="codex"),
        QuitAgent(pane=PaneId(1), agent="codex"),
        AnswerDialog(pane=PaneId(1), agent="codex", choice="allow"),
    ],
)
def test_an_agent_without_keys_gets_none(agent, action):
    snapshot = build_snapshot(ASKED)
    known = None if agent is None else replace(snapshot.agent, name=agent)
    assert find_failed_precondition(
        replace(snapshot, agent=known), build_attempt(action), snapshot.observed_at
    ).why == ("no_agent")


def test_a_dialog_that_the_caller_names_is_not_replaced():
    action = AnswerDialog(pane=PaneId(1), agent="codex", choice="allow", rows=("other",))
    assert bind_dialog_rows(action, build_snapshot(ASKED)) is action
    assert bind_dialog_rows(replace(action, rows=()), None).rows == ()
    assert bind_dialog_rows(replace(action, rows=()), build_snapshot(HELLO)).rows == ()
    assert bind_dialog_rows(SEND, build_snapshot(ASKED)) is SEND


@pytest.mark.parametrize(
    ("pattern", "text", "is_match"),
    [
        ("/", "a/b", True),
        ("/", "ab", False),
        ("//", "a//b", True),
        ("//", "ab", False),
        ("/b.d/", "a bad day", True),
        ("/bad", "a bad day", False),
        ("bad/", "a bad day", False),
        ("b.d", "a bad day", False),
        ("b.d", "a b.d day", True),
    ],
)
def test_only_a_pattern_in_slashes_is_a_regex(pattern, text, is_match):
    assert matches_pattern(pattern, text) is is_match


LIMITS = [
    (replace(READY, observed_at=NOON - 2 * NS), {}, None),
    (replace(READY, observed_at=NOON - 2 * NS - 10**6), {}, "stale_snapshot"),
    (replace(READY, observed_at=NOON - 3 * NS), {"force_stale": True}, None),
    (READY, {"updated_within": 10.0}, None),
    (READY, {"updated_within": 9.9}, "if_updated_within"),
    (replace(READY, view=replace(VIEW, last_output_at=None)), {"updated_within": 9.9}, "if_updated_within"),
    (READY, {"tail": "done", "stable_for": 10.0}, None),
    (READY, {"tail": "done", "stable_for": 10.1}, "if_tail"),
    (replace(READY, view=replace(VIEW, last_output_at=None)), {"tail": "done", "stable_for": 10.1}, None),
    (READY, {"stable_for": 10.1}, None),
    (READY, {"tail": "building", "tail_lines": 1}, "if_tail"),
    (READY, {"tail": "building", "tail_lines": 2}, None),
    (replace(READY, is_ready=True), {"is_ready": True}, None),
    (READY, {"is_ready": True}, "if_ready"),
    (READY, {"at_prompt": True}, None),
    (build_snapshot_with_activity("command"), {"at_prompt": True}, "if_prompt"),
    (READY, {"runtime": 7}, "if_runtime"),
    (READY, {"states": frozenset(["prompt"])}, None),
    (READY, {"states": frozenset(["idle"])}, "if_state"),
    (READY, {"screen": "done"}, None),
    (READY, {"screen": "other"}, "if_screen"),
]


@pytest.mark.parametrize(("snapshot", "given", "why"), LIMITS)
def test_a_condition_of_the_caller_holds_up_to_its_limit(snapshot, given, why):
    assert find_why(snapshot, **given) == why


@pytest.mark.parametrize(("expires_in", "owner", "why"), [(1, "", "reserved"), (0, "", None), (1, "me", None)])
def test_a_reservation_holds_until_it_expires(expires_in, owner, why):
    reservation = Reservation(pane=PaneId(1), owner="me", at=1, expires_at=NOON + expires_in)
    assert find_why(replace(READY, reservation=reservation), owner=owner) == why


@pytest.mark.parametrize(("length", "why"), [(1 << 20, None), ((1 << 20) + 1, "too_long")])
def test_a_text_has_at_most_a_mebibyte(length, why):
    assert find_why(action=build_send_text("x" * length)) == why


@pytest.mark.parametrize(
    ("row", "x", "why"), [("> ", 2, None), ("> a", 3, "input_not_empty"), ("> a", 2, "input_not_empty")]
)
def test_the_input_of_a_program_is_empty_on_both_sides_of_the_cursor(row, x, why):
    running = replace(build_snapshot_with_activity("command"), pane_state=screen("done", row, x=x, y=1))
    assert find_why(running, into="program") == why


@pytest.mark.parametrize(
    ("values", "more", "text"),
    [
        ({}, {}, "t"),
        ({"expected": "a"}, {"expected": "a", "actual": ""}, "t (expected a, found )"),
        ({"actual": "b"}, {"expected": "", "actual": "b"}, "t"),
    ],
)
def test_an_error_has_what_was_expected_and_found(values, more, text):
    error = PreconditionFailure("w", "t", **values).build_error("c")
    assert error.details == {"outcome": "refused", "why": "w", "correlation": "c"} | more
    assert error.message == f"nothing was done: {text}"


def find_reserved(owner: str, actor: Actor, **preconditions) -> str:
    held = replace(READY, reservation=Reservation(pane=PaneId(1), owner=owner, at=0, expires_at=NOON + 1))
    attempt = replace(build_attempt(build_send_text("make"), **preconditions), actor=actor)
    failure = find_failed_precondition(held, attempt, NOON)
    return "" if failure is None else failure.text


def test_the_caller_who_reserved_a_pane_needs_no_owner():
    person, program = replace(ME, kind="human"), replace(ME, pane=PaneId(4))
    assert find_reserved("human:1000", person) == find_reserved("robot:1000:pane4", program) == ""
    assert find_reserved("robot:1000:pane4", replace(ME, pane=PaneId(5)))


def test_a_person_may_override_a_reservation():
    person = replace(ME, kind="human")
    assert "--override-reservation" in find_reserved("fix-42", person)
    assert find_reserved("fix-42", person, overrides_reservation=True) == ""
