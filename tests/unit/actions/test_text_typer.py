"""Enter is pressed once, and only while nothing but the text is in the input."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import PaneForeground, PaneSnapshot
from termvisor.actions.text_typer import TextTyper, TypingResult
from termvisor.backends.pane_control import AppliedChange, GuardMismatch, GuardResult, PaneGuard, PaneState, PaneViewer
from termvisor.model.action.action import SendText
from termvisor.model.terminal.pane import InputState, PaneActivity
from tests.unit.actions.scripted_screen import PANE, HastyClock, build_pane_state, build_pane_view

GROUP = 4000
TEXT = "go on please"


class ScriptedProgram:
    """A program with a prompt ``>`` in a pane; ``before_enter`` changes the pane just before Enter is pressed."""

    def __init__(self, clock: HastyClock, takes_enter: bool = True):
        self.clock, self.takes_enter = clock, takes_enter
        self.rows, self.viewers, self.group = ["> "], (), GROUP
        self.enters = self.reads = 0
        self.changes: dict[int, object] = {}
        self.cursor_shift = 0

    async def read_pane_state(self, _pane: str) -> PaneState:
        self.reads += 1
        if change := self.changes.get(self.reads):
            change(self)
        return self.pane_state

    @property
    def pane_state(self) -> PaneState:
        state = build_pane_state(self.rows)
        x, y = len(self.rows[-1]) + self.cursor_shift, len(self.rows) - 1
        return replace(state, alternate=False, cursor_x=x, cursor_y=y, viewers=self.viewers)

    async def write(self, _guard: PaneGuard, text: str) -> GuardResult:
        self.rows[-1] += text
        return AppliedChange()

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        state = self.pane_state
        if guard.cursor != (state.cursor_x, state.cursor_y):
            return GuardMismatch("cursor", str(guard.cursor), f"{state.cursor_x}/{state.cursor_y}")
        assert list(keys) == ["Enter"]
        self.enters += 1
        if self.takes_enter:
            self.rows.append("> ")
        return AppliedChange()

    def get_control(self, _pane: int) -> "ScriptedProgram":
        return self

    async def find_foreground_group(self, _pane: int) -> int:
        return self.group

    async def count_unread_bytes(self, _pane: int) -> int:
        return 0

    async def is_busy(self, _pane: int) -> bool:
        return False

    def get_command_times(self, _pane: int) -> dict[str, int]:
        return {}


async def type_text(program: ScriptedProgram, *, allows_typing: bool = False) -> TypingResult:
    async def record_step(_step: str) -> None:
        return None

    view = replace(build_pane_view(), activity=PaneActivity(kind="command"))
    snapshot = PaneSnapshot(
        view=view,
        pane_state=program.pane_state,
        input_place=InputState(),
        observed_at=program.clock.now(),
        foreground=PaneForeground(GROUP),
    )
    typer = TextTyper(
        SendText(pane=PANE, text=TEXT),
        snapshot,
        into_prompt=False,
        allows_typing_beside_people=allows_typing,
        panes=program,
        clock=program.clock,
        record_step=record_step,
    )
    return await typer.type_text()


@pytest.fixture
def clock() -> HastyClock:
    return HastyClock()


async def find_enter_read(clock: HastyClock) -> int:
    """Return the number of the read that directly precedes Enter."""
    program = ScriptedProgram(clock)
    numbers: list[int] = []
    press = program.press

    async def note_press(guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        numbers.append(program.reads)
        return await press(guard, keys)

    program.press = note_press
    assert (await type_text(program)).status == "delivered"
    return numbers[0]


async def test_enter_is_pressed_once_even_if_nothing_happens(clock):
    program = ScriptedProgram(clock, takes_enter=False)
    result = await type_text(program)
    assert (result.status, result.why, program.enters) == ("unknown", "still_in_input", 1)


def type_more(program: ScriptedProgram) -> None:
    program.rows[-1] += " NOT"


def open_dialog(program: ScriptedProgram) -> None:
    program.rows = ["Do you want to delete everything?", "> 1. Yes", "  2. No"]


def let_a_person_type(program: ScriptedProgram) -> None:
    program.viewers = (PaneViewer("/dev/pts/3", program.clock.now()),)


def replace_the_program(program: ScriptedProgram) -> None:
    program.group += 1


@pytest.mark.parametrize(
    ("change", "status", "why"),
    [
        (type_more, "typed_not_submitted", "input_changed"),
        (open_dialog, "typed_not_submitted", "input_changed"),
        (let_a_person_type, "typed_not_submitted", "human_typing"),
        (replace_the_program, "unknown", "program_changed"),
    ],
)
async def test_what_changed_since_the_text_was_seen_prevents_enter(clock, change, status, why):
    program = ScriptedProgram(clock)
    program.changes = {await find_enter_read(clock): change}
    result = await type_text(program)
    assert (result.status, result.why, program.enters) == (status, why, 0)


async def test_a_policy_may_allow_typing_beside_a_person(clock):
    program = ScriptedProgram(clock)
    program.changes = {await find_enter_read(clock): let_a_person_type}
    assert (await type_text(program, allows_typing=True)).status == "delivered"


async def test_a_key_typed_between_the_last_look_and_enter_prevents_it(clock):
    program = ScriptedProgram(clock)
    press = program.press

    async def press_late(guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        type_more(program)
        return await press(guard, keys)

    program.press = press_late
    result = await type_text(program)
    assert (result.status, result.why, program.enters) == ("typed_not_submitted", "input_changed", 0)


async def test_a_cursor_that_moves_while_the_program_redraws_delays_enter(clock):
    program = ScriptedProgram(clock)
    press, moves = program.press, [3, 5]

    async def press_while_redrawing(guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        program.cursor_shift = moves.pop() if moves else 0
        result = await press(guard, keys)
        program.cursor_shift = 0
        return result

    program.press = press_while_redrawing
    assert (await type_text(program)).status == "delivered"
    assert program.enters == 1
