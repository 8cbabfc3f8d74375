"""Keys for an agent's own screen, as a last resort: pressed one at a time, each only while the screen calls for it.

    look ─► one key, guarded by the rows that it is meant for ─► look whether it had its effect

Invariant: a key is computed anew from the screen that is there, so none follows one that was swallowed. The key that
decides is pressed once; once more only where nothing at all has moved since, for then it was not heard.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.input_line import pieces_of
from termvisor.actions.pane_agent import Voice, screen_of
from termvisor.actions.preconditions import Belief
from termvisor.agents.adapters.dialog_options import RESTS, Press, unpointed
from termvisor.backends.pane_control import Mismatch, PaneControl, Sight
from termvisor.clock import Clock
from termvisor.errors import StaleSnapshot
from termvisor.model.action.outcome import Outcome
from termvisor.model.terminal.screen import Screen
from termvisor.terminal.row_normalization import fold

EFFECT_WITHIN = 1.5
STOPPED_WITHIN = 5.0
LEFT_WITHIN = 10.0
LOOK_FOR = 0.05
QUIET_FOR = 0.3
_STEPS = 12
"""Choices that are stepped over at most."""

Choose = Callable[[Screen], Press | None]


class Seen(Struct, frozen=True):
    """One look: None for a pane that is gone."""

    sight: Sight | None
    screen: Screen | None


class Hand:
    def __init__(self, control: PaneControl, belief: Belief, voice: Voice, clock: Clock):
        self._control, self._belief, self._voice, self._clock = control, belief, voice, clock
        self._done = Outcome(status="done", pane=belief.view.id, channel="keys")

    async def pick(self, choice: str, rows: tuple[str, ...]) -> Outcome:
        """Answer the dialog of these rows. Raises ``StaleSnapshot`` where another is shown; then nothing was done."""
        steps = decided = stuck = 0
        await self._settle()
        while (found := await self._standing(choice, rows))[1] is not None or not steps:
            seen, press = found
            if press is None:
                raise _stale("another screen is shown by now", "dialog_changed")
            if steps == _STEPS or decided == 2 or stuck == 2:
                return self._still_shown
            await self._press(press.keys[0], press.rows, is_first=not steps)
            steps, has_moved = steps + 1, await self._has_moved(seen)
            decided += len(press.keys) == 1
            stuck += not has_moved
            if len(press.keys) == 1 and has_moved and not await self._has_left(choice, rows):
                return self._still_shown
        if decided:
            return replace(self._done, why="dialog_left")
        return replace(self._done, status="unknown", why="dialog_changed", text="the dialog changed under the keys")

    async def interrupt(self) -> Outcome:
        """Stop the work that the screen shows."""
        seen = await self._look()
        press = self._voice.interrupt(seen.screen) if seen.screen is not None else None
        if press is None:
            raise _stale("its screen shows no work any more", "not_at_work")
        await self._series(press)
        until = self._clock.monotonic() + STOPPED_WITHIN
        while self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_FOR)
            seen = await self._look()
            if seen.screen is None or self._voice.look(seen.screen).state in RESTS:
                return replace(self._done, why="interrupted")
        return replace(self._done, status="unknown", why="still_at_work", text="it is not seen to have stopped")

    async def leave(self, is_gone: Callable[[], bool]) -> Outcome:
        """End it in its own way; it is over when its process is."""
        seen = await self._look()
        press = self._voice.leave(seen.screen) if seen.screen is not None else None
        if press is None:
            raise _stale("its screen no longer shows that it rests", "at_work")
        await self._series(press)
        until = self._clock.monotonic() + LEFT_WITHIN
        while self._clock.monotonic() < until:
            if is_gone() or (await self._look()).sight is None:
                return replace(self._done, why="left")
            await self._clock.sleep(LOOK_FOR)
        return replace(self._done, status="unknown", why="still_there", text="it is not seen to have left")

    async def _series(self, press: Press) -> None:
        """Keys that belong together; the first one is guarded by the screen, all by the program that gets them."""
        for number, key in enumerate(press.keys):
            if number:
                await self._clock.sleep(press.pause)
            try:
                await self._press(key, press.rows if not number else (), is_first=not number)
            except StaleSnapshot:
                if not number:
                    raise
                return  # the first key did it all

    async def _press(self, key: str, rows: tuple[str, ...], *, is_first: bool) -> None:
        """Raises ``StaleSnapshot`` when nothing was pressed."""
        guard = replace(self._belief.guard(), rows=pieces_of(rows, self._belief.sight.width))
        found = await self._control.press(guard, [key])
        if isinstance(found, Mismatch):
            before = "nothing was done" if is_first else "nothing more was done"
            what = f"{before}: expected {found.expected}, found {found.actual}"
            raise StaleSnapshot(what, details={"outcome": "refused", "why": f"stale_{found.what}"})

    async def _settle(self) -> None:
        """A dialog that is only just being painted swallows keys."""
        until, since, last = self._clock.monotonic() + EFFECT_WITHIN, self._clock.monotonic(), await self._look()
        while (now := self._clock.monotonic()) < until and now - since < QUIET_FOR:
            await self._clock.sleep(LOOK_FOR)
            seen = await self._look()
            if _is_other(last, seen):
                last, since = seen, self._clock.monotonic()

    async def _has_moved(self, before: Seen) -> bool:
        """Whether anything changed on the screen, but for clocks and spinners, within the time that a key takes."""
        until = self._clock.monotonic() + EFFECT_WITHIN
        while self._clock.monotonic() < until:
            await self._clock.sleep(LOOK_FOR)
            if _is_other(before, await self._look()):
                return True
        return False

    async def _has_left(self, choice: str, rows: tuple[str, ...]) -> bool:
        """The deciding key was heard, or something else moved: it is given time, and not pressed again."""
        until = self._clock.monotonic() + EFFECT_WITHIN
        while self._clock.monotonic() < until:
            if (await self._standing(choice, rows))[1] is None:
                return True
            await self._clock.sleep(LOOK_FOR)
        return False

    async def _standing(self, choice: str, rows: tuple[str, ...]) -> tuple[Seen, Press | None]:
        """What would pick it now; None where this very dialog is not shown any more."""
        seen = await self._look()
        press = self._voice.pick(seen.screen, choice) if seen.screen is not None else None
        return seen, press if press is not None and unpointed(press.rows) == unpointed(rows) else None

    async def _look(self) -> Seen:
        belief = self._belief
        sight = await self._control.see(belief.sight.pane)
        if sight is None or sight.pid != belief.sight.pid:
            return Seen(None, None)
        return Seen(sight, screen_of(belief.view.id, sight, self._clock.now()))

    @property
    def _still_shown(self) -> Outcome:
        return replace(self._done, status="unknown", why="still_shown", text="the dialog is still shown")


def _is_other(one: Seen, other: Seen) -> bool:
    if one.screen is None or other.screen is None:
        return True
    return [fold(row) for row in one.screen.rows] != [fold(row) for row in other.screen.rows]


def _stale(text: str, why: str) -> StaleSnapshot:
    return StaleSnapshot(f"nothing was done: {text}", details={"outcome": "refused", "why": why})
