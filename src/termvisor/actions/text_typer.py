"""Text into a program's input, then Enter: a state machine whose every step is on record before it is taken.

    typing ─► seen in the input ─► submitting (Enter) ─► seen to leave
       └─ refused, typed_not_submitted, or unknown: told as it is, and never tried again

Invariant: for one key text is written at most once, whatever fails in between; Enter is pressed only after the text was
seen in the input of the very program that was meant, and only while a piece of it is still on the screen.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from termvisor.actions import input_line
from termvisor.actions.pane_agent import AgentInteraction, build_screen, read_composer_text
from termvisor.actions.preconditions import PaneSnapshot
from termvisor.backends.pane_control import GuardMismatch, PaneControl, PaneState
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.action.action import SendText
from termvisor.model.action.delivery import DeliveryStatus, DeliveryStep
from termvisor.model.action.outcome import AgentChannel
from termvisor.model.ids import PaneId

POLL_INTERVAL_S = 0.05
SETTLE_S = 0.15
SEEN_TIMEOUT_S = 5.0
CONFIRM_TIMEOUT_S = 5.0
ENTER_RETRY_DELAY_S = 1.5
"""Seconds after which Enter is pressed once more, if the text has not left the input."""

log = get_logger("send")


class InputProbe(Protocol):
    """What a program itself tells, or its terminal."""

    def get_last_command_time(self, pane: PaneId) -> int:
        """When the shell in the pane last said, with proof, that a command starts; 0 for never."""

    def count_unread_bytes(self, pane: PaneId) -> int | None:
        """Bytes that wait in the terminal for its program; None where that cannot be known."""

    def is_busy(self, pane: PaneId) -> bool:
        """Whether the program surely does not read what the terminal, by itself, shows of what is typed."""


StepRecorder = Callable[[DeliveryStep], Awaitable[None]]
"""Puts the next step on record."""


class TypingResult(Struct, frozen=True):
    """What came of it, and why that is known."""

    status: DeliveryStatus
    why: str
    text: str = ""
    channel: AgentChannel | None = None


class TypingJob(Struct):
    """One text on its way."""

    action: SendText
    snapshot: PaneSnapshot
    into_prompt: bool
    record_step: StepRecorder
    interaction: AgentInteraction | None = None
    """Whose composer it goes into, where it is an agent's."""

    @property
    def text(self) -> str:
        return self.action.text


class TextTyper:
    def __init__(self, control: PaneControl, probe: InputProbe, clock: Clock):
        self._control, self._probe, self._clock = control, probe, clock

    async def type_text(self, job: TypingJob) -> TypingResult:
        """`typing` is on record when this is called. Never raises for what the world does."""
        try:
            found = await self._control.write(job.snapshot.build_guard(), job.text)
        except MuxError as error:
            return TypingResult("unknown", "no_answer", f"tmux did not say whether the text was written: {error}")
        if isinstance(found, GuardMismatch):
            return TypingResult("refused", f"stale_{found.what}", f"expected {found.expected}, found {found.actual}")
        try:
            return await self._submit(job)
        except MuxError as error:
            return TypingResult("unknown", "no_answer", f"tmux stopped answering after the text was written: {error}")

    async def _submit(self, job: TypingJob) -> TypingResult:
        seen = await self._wait_until_seen(job)
        if seen is not None:
            return seen
        if not job.action.enter:
            return TypingResult("typed_not_submitted", "as_wanted", "Enter was not wanted")
        await job.record_step("submitting")
        began = self._clock.now()
        if (refused := await self._press_enter(job)) is not None:
            return refused
        return await self._wait_until_taken(job, began)

    async def _wait_until_seen(self, job: TypingJob) -> TypingResult | None:
        """None once the text stands in the input of that program, and the screen is quiet."""
        until = self._clock.monotonic() + SEEN_TIMEOUT_S
        last: tuple[str, ...] = ()
        since = self._clock.monotonic()
        while self._clock.monotonic() < until:
            sight = await self._control.read_pane_state(job.snapshot.pane_state.pane)
            if sight is None or not self._is_same_program(job, sight):
                return TypingResult("unknown", "program_changed", _describe_text_location(sight, job.text))
            now = self._clock.monotonic()
            if sight.rows != last:
                last, since = sight.rows, now
            elif now - since >= SETTLE_S and self._has_text_in_input(job, sight) and not self._is_busy(job):
                return None
            await self._clock.sleep(POLL_INTERVAL_S)
        is_there = sight is not None and input_line.is_text_shown(sight, job.text)
        if is_there and self._is_busy(job):
            return TypingResult("typed_not_submitted", "not_reading", "the program does not read what is typed there")
        if is_there:
            return TypingResult(
                "typed_not_submitted", "not_in_input", "the text is on the screen, but not in the input"
            )
        return TypingResult("unknown", "not_seen", "the text was written and never seen")

    async def _press_enter(self, job: TypingJob) -> TypingResult | None:
        piece = input_line.find_guard_piece(job.text, job.snapshot.pane_state.width)
        try:
            found = await self._control.press(job.snapshot.build_guard(piece), ["Enter"])
        except MuxError as error:
            return TypingResult("unknown", "no_answer", f"tmux did not say whether Enter was pressed: {error}")
        if isinstance(found, GuardMismatch):
            what = f"expected {found.expected}, found {found.actual}"
            return TypingResult("typed_not_submitted", f"stale_{found.what}", what)
        return None

    async def _wait_until_taken(self, job: TypingJob, began: int) -> TypingResult:
        start = self._clock.monotonic()
        has_pressed_again = False
        while (elapsed := self._clock.monotonic() - start) < CONFIRM_TIMEOUT_S:
            sight = await self._control.read_pane_state(job.snapshot.pane_state.pane)
            if (told := self._has_command_started(job, began)) or (
                sight and self._has_input_emptied(job, sight, began)
            ):
                return TypingResult("delivered", "command_started" if told else "left_input")
            if sight is None:
                return TypingResult("unknown", "pane_gone", "the pane went away after Enter")
            if elapsed > ENTER_RETRY_DELAY_S and not has_pressed_again and self._has_text_in_input(job, sight):
                has_pressed_again = True
                if (refused := await self._press_enter(job)) is not None:
                    return refused
            await self._clock.sleep(POLL_INTERVAL_S)
        is_held = sight is not None and self._is_same_program(job, sight) and self._has_text_in_input(job, sight)
        if is_held:
            return TypingResult(
                "typed_not_submitted", "still_in_input", "Enter was pressed and the text stayed in the input"
            )
        return TypingResult(
            "unknown", "not_confirmed", "Enter was pressed; nothing proves that the program took the text"
        )

    def _has_command_started(self, job: TypingJob, began: int) -> bool:
        return job.into_prompt and self._probe.get_last_command_time(job.snapshot.view.id) >= began

    def _has_input_emptied(self, job: TypingJob, pane_state: PaneState, began: int) -> bool:
        """The input is empty again and the text stands above it; and the program has read what was typed."""
        if job.into_prompt and self._is_proven(job):
            return False  # a shell that speaks to us says itself when it starts a command
        if not self._is_same_program(job, pane_state):
            return job.into_prompt and pane_state.pid == job.snapshot.pane_state.pid and not pane_state.dead
        typed = self._read_input(job, pane_state, lines=1)
        is_empty = (
            typed is not None
            and not input_line.strip_decoration(typed.before)
            and not input_line.strip_decoration(typed.behind)
        )
        return (
            is_empty
            and input_line.is_text_shown(pane_state, job.text)
            and self._probe.count_unread_bytes(job.snapshot.view.id) == 0
        )

    def _has_text_in_input(self, job: TypingJob, pane_state: PaneState) -> bool:
        """Whether the text, and nothing but it, stands in the input."""
        typed = self._read_input(job, pane_state, lines=job.text.count("\n") + 1)
        return (
            typed is not None
            and not input_line.strip_decoration(typed.behind)
            and input_line.is_same_text(typed.before, job.text)
        )

    def _read_input(self, job: TypingJob, pane_state: PaneState, lines: int) -> input_line.TypedInput | None:
        """What stands in an input of so many lines."""
        column = job.snapshot.input_place.column
        if job.interaction is not None:
            shown = build_screen(job.snapshot.view.id, pane_state, self._clock.now())
            text = read_composer_text(job.interaction, shown, pane_state)
            return None if text is None else input_line.TypedInput(text, "")
        if job.into_prompt:
            return None if column is None else input_line.read_prompt_input(pane_state, column, lines)
        return input_line.read_program_input(pane_state)

    def _is_busy(self, job: TypingJob) -> bool:
        return self._probe.is_busy(job.snapshot.view.id)

    def _is_proven(self, job: TypingJob) -> bool:
        return job.snapshot.view.activity.is_proven

    def _is_same_program(self, job: TypingJob, pane_state: PaneState) -> bool:
        before = job.snapshot.pane_state
        is_same = (pane_state.pid, pane_state.command, pane_state.alternate) == (
            before.pid,
            before.command,
            before.alternate,
        )
        return is_same and not pane_state.dead


def _describe_text_location(pane_state: PaneState | None, text: str) -> str:
    if pane_state is None:
        return "the pane went away after the text was written"
    place = "is on its screen" if input_line.is_text_shown(pane_state, text) else "is not on its screen"
    return f"another program ({pane_state.command}) is in the pane now; the text {place}"
