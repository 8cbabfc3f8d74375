"""Keys for an agent's own screen, as a last resort: pressed one at a time, each only while the screen calls for it.

    look ─► one key, guarded by the rows that it is meant for ─► look whether it had its effect

Invariant: a key is computed anew from the screen that is there, so none follows one that was swallowed. The key that
decides is pressed once; once more only where nothing at all has moved since, for then it was not heard.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.input_line import find_guard_pieces
from termvisor.actions.pane_agent import AgentInteraction, build_screen
from termvisor.actions.preconditions import PaneSnapshot
from termvisor.agents.adapters.dialog_options import RESTING_STATES, KeyPress, remove_pointer
from termvisor.backends.pane_control import GuardMismatch, PaneControl, PaneState
from termvisor.clock import Clock
from termvisor.errors import StaleSnapshot
from termvisor.model.action.outcome import Outcome
from termvisor.model.terminal.screen import Screen
from termvisor.terminal.row_normalization import normalize_row

EFFECT_TIMEOUT_S = 1.5
STOP_TIMEOUT_S = 5.0
QUIT_TIMEOUT_S = 10.0
POLL_INTERVAL_S = 0.05
SETTLE_S = 0.3
_MAX_KEY_STEPS = 12
"""Choices that are stepped over at most."""

KeyChooser = Callable[[Screen], KeyPress | None]


class PaneSample(Struct, frozen=True):
    """One look: None for a pane that is gone."""

    pane_state: PaneState | None
    screen: Screen | None


class AgentKeyboard:
    def __init__(self, control: PaneControl, snapshot: PaneSnapshot, interaction: AgentInteraction, clock: Clock):
        self._control, self._snapshot, self._interaction, self._clock = control, snapshot, interaction, clock
        self._done_outcome = Outcome(status="done", pane=snapshot.view.id, channel="keys")

    async def pick_choice(self, choice: str, rows: tuple[str, ...]) -> Outcome:
        """Answer the dialog of these rows. Raises ``StaleSnapshot`` where another is shown; then nothing was done."""
        steps = decided = stuck = 0
        await self._wait_until_settled()
        while (found := await self._find_choice(choice, rows))[1] is not None or not steps:
            seen, press = found
            if press is None:
                raise _build_stale_error("another screen is shown by now", "dialog_changed")
            if steps == _MAX_KEY_STEPS or decided == 2 or stuck == 2:
                return self._still_shown_outcome
            await self._press_key(press.keys[0], press.rows, is_first=not steps)
            steps, has_moved = steps + 1, await self._has_screen_changed(seen)
            decided += len(press.keys) == 1
            stuck += not has_moved
            if len(press.keys) == 1 and has_moved and not await self._has_dialog_closed(choice, rows):
                return self._still_shown_outcome
        if decided:
            return replace(self._done_outcome, why="dialog_left")
        return replace(
            self._done_outcome, status="unknown", why="dialog_changed", text="the dialog changed under the keys"
        )

    async def interrupt(self) -> Outcome:
        """Stop the work that the screen shows."""
        seen = await self._sample_pane()
        press = self._interaction.find_interrupt_keys(seen.screen) if seen.screen is not None else None
        if press is None:
            raise _build_stale_error("its screen shows no work any more", "not_at_work")
        await self._press_series(press)
        until = self._clock.monotonic() + STOP_TIMEOUT_S
        while self._clock.monotonic() < until:
            await self._clock.sleep(POLL_INTERVAL_S)
            seen = await self._sample_pane()
            if seen.screen is None or self._interaction.read_screen(seen.screen).state in RESTING_STATES:
                return replace(self._done_outcome, why="interrupted")
        return replace(self._done_outcome, status="unknown", why="still_at_work", text="it is not seen to have stopped")

    async def quit_agent(self, is_gone: Callable[[], bool]) -> Outcome:
        """End it in its own way; it is over when its process is."""
        seen = await self._sample_pane()
        press = self._interaction.find_exit_keys(seen.screen) if seen.screen is not None else None
        if press is None:
            raise _build_stale_error("its screen no longer shows that it rests", "at_work")
        await self._press_series(press)
        until = self._clock.monotonic() + QUIT_TIMEOUT_S
        while self._clock.monotonic() < until:
            if is_gone() or (await self._sample_pane()).pane_state is None:
                return replace(self._done_outcome, why="left")
            await self._clock.sleep(POLL_INTERVAL_S)
        return replace(self._done_outcome, status="unknown", why="still_there", text="it is not seen to have left")

    async def _press_series(self, press: KeyPress) -> None:
        """Keys that belong together; the first one is guarded by the screen, all by the program that gets them."""
        for number, key in enumerate(press.keys):
            if number:
                await self._clock.sleep(press.pause_s)
            try:
                await self._press_key(key, press.rows if not number else (), is_first=not number)
            except StaleSnapshot:
                if not number:
                    raise
                return  # the first key did it all

    async def _press_key(self, key: str, rows: tuple[str, ...], *, is_first: bool) -> None:
        """Raises ``StaleSnapshot`` when nothing was pressed."""
        guard = replace(self._snapshot.build_guard(), rows=find_guard_pieces(rows, self._snapshot.pane_state.width))
        found = await self._control.press(guard, [key])
        if isinstance(found, GuardMismatch):
            before = "nothing was done" if is_first else "nothing more was done"
            what = f"{before}: expected {found.expected}, found {found.actual}"
            raise StaleSnapshot(what, details={"outcome": "refused", "why": f"stale_{found.what}"})

    async def _wait_until_settled(self) -> None:
        """A dialog that is only just being painted swallows keys."""
        until, since, last = (
            self._clock.monotonic() + EFFECT_TIMEOUT_S,
            self._clock.monotonic(),
            await self._sample_pane(),
        )
        while (now := self._clock.monotonic()) < until and now - since < SETTLE_S:
            await self._clock.sleep(POLL_INTERVAL_S)
            seen = await self._sample_pane()
            if _is_changed(last, seen):
                last, since = seen, self._clock.monotonic()

    async def _has_screen_changed(self, before: PaneSample) -> bool:
        """Whether anything changed on the screen, but for clocks and spinners, within the time that a key takes."""
        until = self._clock.monotonic() + EFFECT_TIMEOUT_S
        while self._clock.monotonic() < until:
            await self._clock.sleep(POLL_INTERVAL_S)
            if _is_changed(before, await self._sample_pane()):
                return True
        return False

    async def _has_dialog_closed(self, choice: str, rows: tuple[str, ...]) -> bool:
        """The deciding key was heard, or something else moved: it is given time, and not pressed again."""
        until = self._clock.monotonic() + EFFECT_TIMEOUT_S
        while self._clock.monotonic() < until:
            if (await self._find_choice(choice, rows))[1] is None:
                return True
            await self._clock.sleep(POLL_INTERVAL_S)
        return False

    async def _find_choice(self, choice: str, rows: tuple[str, ...]) -> tuple[PaneSample, KeyPress | None]:
        """What would pick it now; None where this very dialog is not shown any more."""
        seen = await self._sample_pane()
        press = self._interaction.find_choice_keys(seen.screen, choice) if seen.screen is not None else None
        return seen, press if press is not None and remove_pointer(press.rows) == remove_pointer(rows) else None

    async def _sample_pane(self) -> PaneSample:
        belief = self._snapshot
        sight = await self._control.read_pane_state(belief.pane_state.pane)
        if sight is None or sight.pid != belief.pane_state.pid:
            return PaneSample(None, None)
        return PaneSample(sight, build_screen(belief.view.id, sight, self._clock.now()))

    @property
    def _still_shown_outcome(self) -> Outcome:
        return replace(self._done_outcome, status="unknown", why="still_shown", text="the dialog is still shown")


def _is_changed(one: PaneSample, other: PaneSample) -> bool:
    if one.screen is None or other.screen is None:
        return True
    return [normalize_row(row) for row in one.screen.rows] != [normalize_row(row) for row in other.screen.rows]


def _build_stale_error(text: str, why: str) -> StaleSnapshot:
    return StaleSnapshot(f"nothing was done: {text}", details={"outcome": "refused", "why": why})
