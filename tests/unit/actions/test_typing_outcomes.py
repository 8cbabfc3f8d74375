"""Typing and submitting a text: how far it got, and why not further."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_control import GuardMismatch, PaneState
from termvisor.errors import MuxError, StaleSnapshot
from termvisor.model.action.action import SendText
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity
from tests.property.faulty_pane import FaultyPane
from tests.unit.actions.scripted_gate import GateOnScriptedPane

SEND = SendText(pane=PaneId(1), text="make one thing")
Change = Callable[[FaultyPane], object]


def drop(pane: FaultyPane) -> None:
    pane.is_dropping = True


def close(pane: FaultyPane) -> None:
    pane.is_gone = True


def replace_program(pane: FaultyPane) -> None:
    pane.is_replaced = True


def fail_to_read(pane: FaultyPane) -> None:
    async def read_pane_state(_pane: str) -> None:
        raise MuxError("gone")

    pane.read_pane_state = read_pane_state


def lose_input(pane: FaultyPane) -> None:
    pane.input = ""


def move_text(pane: FaultyPane) -> None:
    pane.submitted, pane.input = [pane.input], ""


def add_text(pane: FaultyPane) -> None:
    pane.input += " more"


def be_busy(pane: FaultyPane) -> None:
    async def is_busy(_pane) -> bool:
        return True

    pane.is_busy = is_busy


def call_at(pane: FaultyPane, method: str, *, before: Change | None = None, after: Change | None = None) -> None:
    """Change the pane right before and right after a call."""
    real = getattr(pane, method)

    async def call(*args: object) -> GuardMismatch | None:
        if before is not None:
            before(pane)
        result = await real(*args)
        if after is not None:
            after(pane)
        return result

    setattr(pane, method, call)


@pytest.mark.parametrize(
    ("method", "moment", "change", "expected", "keys"),
    [
        ("write", "before", drop, ("unknown", "not_seen", "the text was written but not seen on the screen"), 0),
        ("write", "after", lose_input, ("unknown", "not_seen", "the text was written but not seen on the screen"), 0),
        ("write", "after", close, ("unknown", "program_changed", "the pane closed after the text was written"), 0),
        (
            "write", "after", replace_program,
            ("unknown", "program_changed",
             "another program (other) runs in the pane now; the text is on its screen"), 0,
        ),
        (
            "write", "after", fail_to_read,
            ("unknown", "no_answer", "tmux stopped answering after the text was written: gone"), 0,
        ),
        (
            "write", "after", move_text,
            ("typed_not_submitted", "not_in_input", "the text is on the screen, but not in the input"), 0,
        ),
        (
            "write", "after", add_text,
            ("typed_not_submitted", "not_in_input", "the text is on the screen, but not in the input"), 0,
        ),
        (
            "write", "after", be_busy,
            ("typed_not_submitted", "not_reading", "the program does not read its input"), 0,
        ),
        (
            "press", "before", replace_program,
            ("typed_not_submitted", "stale_command", "expected bash, found other"), 0,
        ),
        (
            "press", "before", lose_input,
            ("typed_not_submitted", "input_changed",
             "the input no longer holds exactly the text, so Enter was not pressed"), 0,
        ),
        (
            "press", "before", drop,
            ("unknown", "still_in_input", "Enter was pressed but the text is still in the input"), 1,
        ),
        ("press", "after", close, ("delivered", "command_started", ""), 1),
    ],
)  # fmt: skip
async def test_a_delivery_reports_how_far_it_got(method, moment, change, expected, keys):
    scene = GateOnScriptedPane()
    call_at(scene.pane, method, **{moment: change})
    outcome = await scene.run(SEND)
    assert ((outcome.status, outcome.why, outcome.text), len(scene.pane.pressed)) == (expected, keys)


async def test_a_write_that_tmux_refuses_is_refused():
    scene = GateOnScriptedPane()
    call_at(scene.pane, "write", before=replace_program)
    with pytest.raises(StaleSnapshot, match="expected bash, found other") as refused:
        await scene.run(SEND)
    assert (refused.value.details["why"], scene.pane.typed) == ("stale_command", [])


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("write", "tmux did not confirm that the text was written: no answer"),
        ("press", "tmux did not confirm that Enter was pressed: no answer"),
    ],
)
async def test_a_call_that_tmux_does_not_answer_is_not_repeated(method, text):
    scene, calls = GateOnScriptedPane(), []

    async def fail(*_args: object) -> None:
        calls.append(method)
        raise MuxError("no answer")

    setattr(scene.pane, method, fail)
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why, outcome.text, calls) == ("unknown", "no_answer", text, [method])


@pytest.mark.parametrize(
    ("is_proven", "change", "expected"),
    [
        (True, lose_input, ("unknown", "not_confirmed")),
        (False, lose_input, ("delivered", "left_input")),
        (False, replace_program, ("delivered", "left_input")),
        (False, close, ("unknown", "pane_gone")),
    ],
)
async def test_only_a_shell_with_marks_must_report_the_start_of_a_command(is_proven, change, expected):
    scene = GateOnScriptedPane()
    activity = replace(scene.pane.view.activity, is_proven=is_proven)
    scene.pane.view = replace(scene.pane.view, activity=activity)
    scene.policy.allows_unproven = True
    scene.pane.get_command_times = lambda _pane: {}
    call_at(scene.pane, "press", after=change)
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why) == expected


async def test_an_input_that_empties_proves_nothing_while_bytes_are_unread():
    scene = GateOnScriptedPane("idle")

    async def count_unread_bytes(_pane):
        return 3

    scene.pane.count_unread_bytes = count_unread_bytes
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why) == ("unknown", "not_confirmed")
    assert outcome.text == "Enter was pressed; nothing proves that the program took the text"


def drop_text(pane: FaultyPane) -> None:
    pane.submitted.clear()


async def test_an_agent_whose_input_merely_emptied_has_not_taken_the_text():
    scene = GateOnScriptedPane("idle")
    call_at(scene.pane, "press", after=drop_text)
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why, scene.pane.pressed) == ("unknown", "no_turn_seen", ["Enter"])
    assert outcome.text == (
        "the input is empty, but nothing shows that the agent took the text (its screen shows completed, the text "
        "is not on it)"
    )


async def test_the_report_of_the_agent_itself_proves_a_turn():
    scene, asked = GateOnScriptedPane("idle"), []
    scene.pane.has_turn_started = lambda pane, since: asked.append((pane, since)) or True
    call_at(scene.pane, "press", after=drop_text)
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why, len(asked)) == ("delivered", "turn_started", 1)
    assert asked[0][1] >= outcome.sent_at


def cancel(_pane: FaultyPane) -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("method", "moment", "status"),
    [
        ("write", "before", "unknown"),
        ("write", "after", "typed_not_submitted"),
        ("press", "before", "typed_not_submitted"),
        ("press", "after", "delivered"),
    ],
)
async def test_a_client_that_leaves_gets_the_true_outcome_on_record(method, moment, status):
    scene = GateOnScriptedPane()
    call_at(scene.pane, method, **{moment: cancel})
    with pytest.raises(asyncio.CancelledError):
        await scene.run(SEND, key="k")
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", status, "interrupted")]
    again = await scene.run(SEND, key="k")
    assert (again.status, again.why, again.is_repeated) == (status, "interrupted", True)


@pytest.mark.parametrize("changes", [{"pid": 2000}, {"command": "other"}, {"alternate": True}, {"dead": True}])
async def test_another_program_in_the_pane_gets_no_enter(changes):
    scene = GateOnScriptedPane()
    real = scene.pane._build_state

    def change_program(pane: FaultyPane) -> None:
        pane._build_state = lambda: replace(real(), **changes)

    call_at(scene.pane, "write", after=change_program)
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why, scene.pane.pressed) == ("unknown", "program_changed", [])


async def test_enter_waits_until_the_screen_has_settled():
    scene, pressed_at = GateOnScriptedPane(), []
    real, drawn_until = scene.pane._build_state, scene.pane.uptime + 1.0

    def draw() -> PaneState:
        state = real()
        is_drawing = scene.pane.uptime < drawn_until
        return replace(state, rows=(*state.rows, f"clock {scene.pane.uptime}")) if is_drawing else state

    scene.pane._build_state = draw
    call_at(scene.pane, "press", before=lambda pane: pressed_at.append(pane.uptime))
    assert (await scene.run(SEND)).status == "delivered"
    assert 0.15 <= pressed_at[0] - drawn_until < 0.3


async def test_enter_does_not_wait_for_the_spinner_of_an_agent():
    scene, pressed_at = GateOnScriptedPane("idle"), []
    real, began = scene.pane._build_state, scene.pane.uptime

    def draw() -> PaneState:
        state = real()
        return replace(state, rows=(f"spinner {scene.pane.uptime}", *state.rows), cursor_y=state.cursor_y + 1)

    scene.pane._build_state = draw
    call_at(scene.pane, "press", before=lambda pane: pressed_at.append(pane.uptime))
    assert (await scene.run(SEND)).status == "delivered"
    assert pressed_at[0] - began < 0.5


async def test_a_text_for_a_program_is_verified_in_its_own_input():
    scene = GateOnScriptedPane()
    scene.pane.view = replace(scene.pane.view, activity=PaneActivity(kind="command"))
    outcome = await scene.run(SEND, into="program")
    assert (outcome.status, outcome.why, outcome.channel) == ("delivered", "left_input", None)
