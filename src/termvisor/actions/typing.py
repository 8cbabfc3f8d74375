"""Text into a program's input, then Enter: a state machine whose every step is on record before it is taken.

    typing ─► seen in the input ─► submitting (Enter) ─► seen to leave
       └─ refused, typed_not_submitted, or unknown: told as it is, and never tried again

Invariant: for one key text is written at most once, whatever fails in between; Enter is pressed only after the text was
seen in the input of the very program that was meant, and only while a piece of it is still on the screen.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from termvisor.actions import input_line as screen
from termvisor.actions.pane_agent import Voice, screen_of, written
from termvisor.actions.preconditions import Belief
from termvisor.backends.pane_control import Mismatch, PaneControl, Sight
from termvisor.clock import Clock
from termvisor.errors import MuxError
from termvisor.log import logger
from termvisor.model.action.action import SendText
from termvisor.model.action.delivery import SendStatus, SendStep
from termvisor.model.action.outcome import Channel
from termvisor.model.ids import PaneId

LOOK_FOR = 0.05
QUIET_FOR = 0.15
SEEN_WITHIN = 5.0
CONFIRMED_WITHIN = 5.0
AGAIN_AFTER = 1.5
"""Seconds after which Enter is pressed once more, if the text has not left the input."""

log = logger("send")


class Witness(Protocol):
    """What a program itself tells, or its terminal."""

    def last_command_at(self, pane: PaneId) -> int:
        """When the shell in the pane last said, with proof, that a command starts; 0 for never."""

    def unread(self, pane: PaneId) -> int | None:
        """Bytes that wait in the terminal for its program; None where that cannot be known."""

    def is_busy(self, pane: PaneId) -> bool:
        """Whether the program surely does not read what the terminal, by itself, shows of what is typed."""


Step = Callable[[SendStep], Awaitable[None]]
"""Puts the next step on record."""


class Ended(Struct, frozen=True):
    """What came of it, and why that is known."""

    status: SendStatus
    why: str
    text: str = ""
    channel: Channel | None = None


class Journey(Struct):
    """One text on its way."""

    action: SendText
    belief: Belief
    into_prompt: bool
    step: Step
    voice: Voice | None = None
    """Whose composer it goes into, where it is an agent's."""

    @property
    def text(self) -> str:
        return self.action.text


class Sender:
    def __init__(self, control: PaneControl, witness: Witness, clock: Clock):
        self._control, self._witness, self._clock = control, witness, clock

    async def send(self, journey: Journey) -> Ended:
        """`typing` is on record when this is called. Never raises for what the world does."""
        try:
            found = await self._control.write(journey.belief.guard(), journey.text)
        except MuxError as error:
            return Ended("unknown", "no_answer", f"tmux did not say whether the text was written: {error}")
        if isinstance(found, Mismatch):
            return Ended("refused", f"stale_{found.what}", f"expected {found.expected}, found {found.actual}")
        try:
            return await self._after_typing(journey)
        except MuxError as error:
            return Ended("unknown", "no_answer", f"tmux stopped answering after the text was written: {error}")

    async def _after_typing(self, journey: Journey) -> Ended:
        seen = await self._until_seen(journey)
        if seen is not None:
            return seen
        if not journey.action.enter:
            return Ended("typed_not_submitted", "as_wanted", "Enter was not wanted")
        await journey.step("submitting")
        began = self._clock.now()
        if (refused := await self._enter(journey)) is not None:
            return refused
        return await self._until_left(journey, began)

    async def _until_seen(self, journey: Journey) -> Ended | None:
        """None once the text stands in the input of that program, and the screen is quiet."""
        until = self._clock.monotonic() + SEEN_WITHIN
        last: tuple[str, ...] = ()
        since = self._clock.monotonic()
        while self._clock.monotonic() < until:
            sight = await self._control.see(journey.belief.sight.pane)
            if sight is None or not self._is_same_program(journey, sight):
                return Ended("unknown", "program_changed", _where(sight, journey.text))
            now = self._clock.monotonic()
            if sight.rows != last:
                last, since = sight.rows, now
            elif now - since >= QUIET_FOR and self._holds(journey, sight) and not self._is_busy(journey):
                return None
            await self._clock.sleep(LOOK_FOR)
        is_there = sight is not None and screen.shows(sight, journey.text)
        if is_there and self._is_busy(journey):
            return Ended("typed_not_submitted", "not_reading", "the program does not read what is typed there")
        if is_there:
            return Ended("typed_not_submitted", "not_in_input", "the text is on the screen, but not in the input")
        return Ended("unknown", "not_seen", "the text was written and never seen")

    async def _enter(self, journey: Journey) -> Ended | None:
        piece = screen.piece_of(journey.text, journey.belief.sight.width)
        try:
            found = await self._control.press(journey.belief.guard(piece), ["Enter"])
        except MuxError as error:
            return Ended("unknown", "no_answer", f"tmux did not say whether Enter was pressed: {error}")
        if isinstance(found, Mismatch):
            what = f"expected {found.expected}, found {found.actual}"
            return Ended("typed_not_submitted", f"stale_{found.what}", what)
        return None

    async def _until_left(self, journey: Journey, began: int) -> Ended:
        start = self._clock.monotonic()
        has_pressed_again = False
        while (elapsed := self._clock.monotonic() - start) < CONFIRMED_WITHIN:
            sight = await self._control.see(journey.belief.sight.pane)
            if (told := self._is_told(journey, began)) or (sight and self._has_left(journey, sight, began)):
                return Ended("delivered", "command_started" if told else "left_input")
            if sight is None:
                return Ended("unknown", "pane_gone", "the pane went away after Enter")
            if elapsed > AGAIN_AFTER and not has_pressed_again and self._holds(journey, sight):
                has_pressed_again = True
                if (refused := await self._enter(journey)) is not None:
                    return refused
            await self._clock.sleep(LOOK_FOR)
        is_held = sight is not None and self._is_same_program(journey, sight) and self._holds(journey, sight)
        if is_held:
            return Ended("typed_not_submitted", "still_in_input", "Enter was pressed and the text stayed in the input")
        return Ended("unknown", "not_confirmed", "Enter was pressed; nothing proves that the program took the text")

    def _is_told(self, journey: Journey, began: int) -> bool:
        return journey.into_prompt and self._witness.last_command_at(journey.belief.view.id) >= began

    def _has_left(self, journey: Journey, sight: Sight, began: int) -> bool:
        """The input is empty again and the text stands above it; and the program has read what was typed."""
        if journey.into_prompt and self._is_proven(journey):
            return False  # a shell that speaks to us says itself when it starts a command
        if not self._is_same_program(journey, sight):
            return journey.into_prompt and sight.pid == journey.belief.sight.pid and not sight.dead
        typed = self._typed(journey, sight, lines=1)
        is_empty = typed is not None and not screen.squeeze(typed.before) and not screen.squeeze(typed.behind)
        return is_empty and screen.shows(sight, journey.text) and self._witness.unread(journey.belief.view.id) == 0

    def _holds(self, journey: Journey, sight: Sight) -> bool:
        """Whether the text, and nothing but it, stands in the input."""
        typed = self._typed(journey, sight, lines=journey.text.count("\n") + 1)
        return typed is not None and not screen.squeeze(typed.behind) and screen.is_same(typed.before, journey.text)

    def _typed(self, journey: Journey, sight: Sight, lines: int) -> screen.Typed | None:
        """What stands in an input of so many lines."""
        column = journey.belief.place.column
        if journey.voice is not None:
            shown = screen_of(journey.belief.view.id, sight, self._clock.now())
            text = written(journey.voice, shown, sight)
            return None if text is None else screen.Typed(text, "")
        if journey.into_prompt:
            return None if column is None else screen.at_prompt(sight, column, lines)
        return screen.in_program(sight)

    def _is_busy(self, journey: Journey) -> bool:
        return self._witness.is_busy(journey.belief.view.id)

    def _is_proven(self, journey: Journey) -> bool:
        return journey.belief.view.activity.is_proven

    def _is_same_program(self, journey: Journey, sight: Sight) -> bool:
        before = journey.belief.sight
        is_same = (sight.pid, sight.command, sight.alternate) == (before.pid, before.command, before.alternate)
        return is_same and not sight.dead


def _where(sight: Sight | None, text: str) -> str:
    if sight is None:
        return "the pane went away after the text was written"
    place = "is on its screen" if screen.shows(sight, text) else "is not on its screen"
    return f"another program ({sight.command}) is in the pane now; the text {place}"
