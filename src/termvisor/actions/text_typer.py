"""Type a text into a program's input and submit it with Enter, verifying each step on the screen.

    typing → text is in the input → submitting (Enter) → input is empty, and an agent has taken the text
       └─ refused, typed_not_submitted or unknown: reported, never retried

Invariants: a step is stored before it is taken; the text is written at most once, even after errors. Enter is pressed
at most once: only while the input of the intended program holds exactly the text and no user types, and only if the
cursor and a piece of the text are still where they were seen. A mark proves the start of a command only if it names the
shell that was at its prompt, if that shell has read Enter, and if the text has left the input: any program of the user
can print a mark with our nonce. An agent has taken the text only if it says so or shows it (see `turn_proof`).
"""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.pane_snapshot import (
    AgentInteraction,
    PaneAccess,
    PaneSnapshot,
    build_screen,
    list_typing_clients,
    read_composer_text,
)
from termvisor.actions.turn_proof import find_shown_proof
from termvisor.backends.pane_control import GuardMismatch, GuardResult, PaneState
from termvisor.clock import Clock
from termvisor.errors import MuxError, NotFound
from termvisor.log import get_logger
from termvisor.model.action.action import SendText
from termvisor.model.action.outcome import AgentChannel, DeliveryStatus, DeliveryStep

POLL_INTERVAL_S = 0.05
# Seconds without a screen change after which the text counts as fully drawn.
SETTLE_S = 0.15
SEEN_TIMEOUT_S = 5.0
CONFIRM_TIMEOUT_S = 5.0

log = get_logger("send")

StepRecorder = Callable[[DeliveryStep], Awaitable[None]]
"""Callback that stores the next step of a delivery."""


class TypingResult(Struct, frozen=True):
    """The status of a delivery and the reason for it; ``why`` is a stable code."""

    status: DeliveryStatus
    why: str
    text: str = ""
    channel: AgentChannel | None = None
    submitted_at: int = 0
    """The time just before Enter was pressed or the prompt was sent; 0 if neither happened."""


class TextTyper:
    """Types one text into one pane. ``record_step`` stores each step before it is taken."""

    def __init__(
        self,
        action: SendText,
        snapshot: PaneSnapshot,
        *,
        into_prompt: bool,
        allows_typing_beside_people: bool,
        panes: PaneAccess,
        clock: Clock,
        record_step: StepRecorder,
    ):
        self._action, self._text, self._snapshot = action, action.text, snapshot
        self._pane, self._interaction, self._into_prompt = snapshot.view.id, snapshot.interaction, into_prompt
        self._panes, self._clock, self._record_step = panes, clock, record_step
        self._allows_typing_beside_people = allows_typing_beside_people

    async def type_text(self) -> TypingResult:
        """Write the text, then submit it. The caller must have stored the step `typing`. Never raises ``MuxError``."""
        try:
            self._control = self._panes.get_control(self._pane)
            # Send text and Enter as two guarded steps. A program that exits without reading leaves the text in the
            # terminal, and with Enter in the same tmux command the shell would run it.
            mismatch = await self._control.write(self._snapshot.build_guard(), self._text)
        except NotFound as error:
            # The pane closed after its snapshot was taken, so nothing was written.
            return TypingResult("refused", "pane_gone", error.message)
        except MuxError as error:
            # tmux may have written the text before it stopped answering, so do not write it again.
            return TypingResult("unknown", "no_answer", f"tmux did not confirm that the text was written: {error}")
        if isinstance(mismatch, GuardMismatch):
            text = f"expected {mismatch.expected}, found {mismatch.actual}"
            return TypingResult("refused", f"stale_{mismatch.what}", text)
        try:
            return await self._submit()
        except MuxError as error:
            return TypingResult("unknown", "no_answer", f"tmux stopped answering after the text was written: {error}")

    async def _submit(self) -> TypingResult:
        failure = await self._wait_until_seen()
        if failure is not None:
            return failure
        if not self._action.enter:
            return TypingResult("typed_not_submitted", "as_wanted", "Enter was not requested")
        await self._record_step("submitting")
        began, self._bytes_read = self._clock.now(), await self._count_bytes_read()
        if (refused := await self._press_enter()) is not None:
            return refused
        return await self._wait_until_taken(began)

    async def _wait_until_seen(self) -> TypingResult | None:
        """Return None once the text is in the program's input and the screen has settled, else the failure."""
        until = self._clock.monotonic() + SEEN_TIMEOUT_S
        last: object = None
        since = self._clock.monotonic()
        pane_state: PaneState | None = None
        # The clock counts while the machine is suspended, so the time may be over before the first look.
        while self._clock.monotonic() < until:
            pane_state = await self._control.read_pane_state(self._snapshot.pane_state.pane)
            if pane_state is None or not self._is_same_program(pane_state):
                return TypingResult("unknown", "program_changed", _describe_text_location(pane_state, self._text))
            now = self._clock.monotonic()
            # An agent that works redraws its spinner all the time, so only its input must have settled.
            drawn = pane_state.rows if self._interaction is None else self._read_input(pane_state, lines=1)
            if drawn != last:
                last, since = drawn, now
            # The kernel echoes text that the program has not read yet, so text on the screen alone proves nothing.
            elif now - since >= SETTLE_S and self._has_text_in_input(pane_state) and not await self._is_busy():
                return None
            await self._clock.sleep(POLL_INTERVAL_S)
        is_shown = pane_state is not None and input_line.is_text_shown(pane_state, self._text)
        if is_shown and await self._is_busy():
            return TypingResult("typed_not_submitted", "not_reading", "the program does not read its input")
        if is_shown:
            return TypingResult(
                "typed_not_submitted", "not_in_input", "the text is on the screen, but not in the input"
            )
        return TypingResult("unknown", "not_seen", "the text was written but not seen on the screen")

    async def _press_enter(self) -> TypingResult | None:
        """Press Enter once. Return None if it was pressed, else why it was not."""
        until = self._clock.monotonic() + SEEN_TIMEOUT_S
        while True:
            # Text was seen before, but a person may have typed since, or a dialog may have opened.
            pane_state = await self._control.read_pane_state(self._snapshot.pane_state.pane)
            failure = await self._find_enter_obstacle(pane_state)
            if pane_state is None or failure is not None:
                return failure
            mismatch = await self._press_enter_at(pane_state)
            is_moved = isinstance(mismatch, GuardMismatch) and mismatch.what == "cursor"
            # Nothing was pressed. A program that redraws moves the cursor for a moment, typing permanently.
            if not is_moved or self._clock.monotonic() >= until:
                break
            await self._clock.sleep(POLL_INTERVAL_S)
        if isinstance(mismatch, GuardMismatch):
            text = f"expected {mismatch.expected}, found {mismatch.actual}"
            return TypingResult("typed_not_submitted", f"stale_{mismatch.what}", text)
        return mismatch if isinstance(mismatch, TypingResult) else None

    async def _press_enter_at(self, pane_state: PaneState) -> TypingResult | GuardResult:
        # A piece of the text must still be on the screen, or Enter would submit something else.
        piece = input_line.find_guard_piece(self._text, self._snapshot.pane_state.width)
        guard = replace(self._snapshot.build_guard(piece), cursor=(pane_state.cursor_x, pane_state.cursor_y))
        try:
            return await self._control.press(guard, ["Enter"])
        except MuxError as error:
            return TypingResult("unknown", "no_answer", f"tmux did not confirm that Enter was pressed: {error}")

    async def _find_enter_obstacle(self, pane_state: PaneState | None) -> TypingResult | None:
        """Return why Enter must not be pressed in this state; None if it may be."""
        foreground = await self._panes.find_foreground_group(self._pane)
        if pane_state is None or not self._is_same_program(pane_state) or foreground != self._snapshot.foreground.group:
            return TypingResult("unknown", "program_changed", _describe_text_location(pane_state, self._text))
        typing = list_typing_clients(pane_state, self._clock.now())
        if typing and not self._allows_typing_beside_people:
            text = f"a user types in the pane ({typing[0].client}), so Enter was not pressed"
            return TypingResult("typed_not_submitted", "human_typing", text)
        if not self._has_text_in_input(pane_state):
            text = "the input no longer holds exactly the text, so Enter was not pressed"
            return TypingResult("typed_not_submitted", "input_changed", text)
        return None

    async def _wait_until_taken(self, began: int) -> TypingResult:
        start = self._clock.monotonic()
        pane_state: PaneState | None = None
        while self._clock.monotonic() - start < CONFIRM_TIMEOUT_S:
            pane_state = await self._control.read_pane_state(self._snapshot.pane_state.pane)
            why = await self._find_proof(began, pane_state)
            if why == "queued" or (pane_state is not None and await self._is_queued(pane_state)):
                return TypingResult("queued", "in_queue", "the agent is working and shows it in its queue")
            if why:
                return TypingResult("delivered", why)
            if pane_state is None:
                return TypingResult("unknown", "pane_gone", "the pane closed after Enter")
            await self._clock.sleep(POLL_INTERVAL_S)
        if self._into_prompt and any(at >= began for at in self._panes.get_command_times(self._pane).values()):
            text = (
                "a mark reports the start of a command, but nothing shows that the shell printed it and took the text"
            )
            return TypingResult("unknown", "mark_not_proven", text)
        # A slow program may still take the Enter, so neither outcome is proven; a second one could answer a dialog.
        if pane_state is not None and self._is_same_program(pane_state) and self._has_text_in_input(pane_state):
            return TypingResult("unknown", "still_in_input", "Enter was pressed but the text is still in the input")
        if self._interaction is not None and pane_state is not None and await self._has_input_emptied(pane_state):
            text = f"the input is empty, but nothing shows that the agent took the text ({self._describe(pane_state)})"
            return TypingResult("unknown", "no_turn_seen", text)
        return TypingResult(
            "unknown", "not_confirmed", "Enter was pressed; nothing proves that the program took the text"
        )

    async def _find_proof(self, began: int, pane_state: PaneState | None) -> str:
        """Return the code of what proves that the program took the text; empty if nothing does."""
        if await self._has_command_started(began, pane_state):
            return "command_started"
        if pane_state is None:
            return ""
        if self._interaction is not None:
            return await self._find_turn_proof(self._interaction, began, pane_state)
        is_shown = not self._is_same_program(pane_state) or input_line.is_text_shown(pane_state, self._text)
        return "left_input" if is_shown and await self._has_input_emptied(pane_state) else ""

    async def _find_turn_proof(self, interaction: AgentInteraction, began: int, pane_state: PaneState) -> str:
        if self._panes.has_turn_started(self._pane, began) and not self._has_text_in_input(pane_state):
            return "turn_started"
        if not await self._has_input_emptied(pane_state):
            return ""
        before, after = (
            (one, interaction.read_screen(build_screen(self._pane, one, self._clock.now())))
            for one in (self._snapshot.pane_state, pane_state)
        )
        return find_shown_proof(self._text, before, after) or ""

    def _describe(self, pane_state: PaneState) -> str:
        """Describe what an agent's screen shows after Enter."""
        screen = build_screen(self._pane, pane_state, self._clock.now())
        state = self._interaction.read_screen(screen).state if self._interaction is not None else "unknown"
        place = "on" if input_line.is_text_shown(pane_state, self._text) else "not on"
        return f"its screen shows {state}, the text is {place} it"

    async def _has_command_started(self, began: int, pane_state: PaneState | None) -> bool:
        """Return True if the shell at the prompt reports the start of a command, and has read Enter for it."""
        shell = self._snapshot.shell
        if not self._into_prompt or not shell or self._panes.get_command_times(self._pane).get(shell, 0) < began:
            return False
        before, now = self._bytes_read, await self._count_bytes_read()
        # Unknown for a shell that has exited meanwhile, and on systems that do not count.
        has_read = before is None or now is None or now > before
        return has_read and not (pane_state is not None and self._has_text_in_input(pane_state))

    async def _count_bytes_read(self) -> int | None:
        shell = self._snapshot.shell
        return await self._panes.count_read_bytes(self._pane, int(shell)) if shell.isdecimal() else None

    async def _has_input_emptied(self, pane_state: PaneState) -> bool:
        """Return True if the input is empty and the program has read all typed bytes."""
        if self._into_prompt and self._snapshot.view.activity.is_proven:
            return False  # a shell with our marks reports the start of a command itself
        if not self._is_same_program(pane_state):
            return self._into_prompt and pane_state.pid == self._snapshot.pane_state.pid and not pane_state.dead
        typed = self._read_input(pane_state, lines=1)
        is_empty = (
            typed is not None
            and not input_line.strip_decoration(typed.before)
            and not input_line.strip_decoration(typed.behind)
        )
        # The next prompt of a shell without marks may have another width.
        is_empty = input_line.is_at_empty_prompt(pane_state) if self._action.at_prompt else is_empty
        return is_empty and await self._panes.count_unread_bytes(self._pane) == 0

    async def _is_queued(self, pane_state: PaneState) -> bool:
        """Return True if the agent shows the text in its queue, and its input is empty."""
        if self._interaction is None or not await self._has_input_emptied(pane_state):
            return False
        shown = self._interaction.read_queue(build_screen(self._pane, pane_state, self._clock.now()))
        return input_line.has_text_start(shown, self._text)

    def _has_text_in_input(self, pane_state: PaneState) -> bool:
        """Return True if the input holds exactly the text."""
        typed = self._read_input(pane_state, lines=self._text.count("\n") + 1)
        return (
            typed is not None
            and not input_line.strip_decoration(typed.behind)
            and input_line.is_same_text(typed.before, self._text)
        )

    def _read_input(self, pane_state: PaneState, lines: int) -> input_line.TypedInput | None:
        """Return the text typed in an input of ``lines`` lines; None if the input is not found."""
        column = self._snapshot.input_place.column
        if self._interaction is not None:
            shown = build_screen(self._pane, pane_state, self._clock.now())
            text = read_composer_text(self._interaction, shown, pane_state)
            return None if text is None else input_line.TypedInput(text, "")
        if self._into_prompt:
            return None if column is None else input_line.read_prompt_input(pane_state, column, lines)
        return input_line.read_program_input(pane_state)

    async def _is_busy(self) -> bool:
        return await self._panes.is_busy(self._pane)

    def _is_same_program(self, pane_state: PaneState) -> bool:
        before = self._snapshot.pane_state
        is_same = (pane_state.pid, pane_state.command, pane_state.alternate) == (
            before.pid,
            before.command,
            before.alternate,
        )
        return is_same and not pane_state.dead


def _describe_text_location(pane_state: PaneState | None, text: str) -> str:
    if pane_state is None:
        return "the pane closed after the text was written"
    place = "is" if input_line.is_text_shown(pane_state, text) else "is not"
    return f"another program ({pane_state.command}) runs in the pane now; the text {place} on its screen"
