"""Execute actions on an agent, through its server if connected, else with the keys that fit its current screen.

    read the screen → press one key, only while the expected rows are shown → check that the screen changed

Invariant: each key is computed from the current screen, so a key is never sent after one that was dropped. The deciding
key is pressed once, and a second time only if the screen has not changed at all, because then it was dropped.
"""

from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.input_line import find_guard_pieces
from termvisor.actions.pane_snapshot import ActionRoutes, AgentInteraction, PaneSnapshot, build_screen
from termvisor.actions.precondition_failure import build_guard_error, build_stale_error
from termvisor.actions.preconditions import AgentAction
from termvisor.agents.adapters.keyboard import RESTING_STATES, KeyPress, remove_pointer
from termvisor.backends.pane_control import GuardMismatch, PaneControl, PaneState
from termvisor.clock import Clock
from termvisor.errors import StaleSnapshot, TimedOut, Unavailable, VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import AnswerAgent, AnswerDialog, Interrupt
from termvisor.model.action.outcome import Outcome
from termvisor.model.terminal.screen import Screen
from termvisor.terminal.row_normalization import normalize_row

log = get_logger("agent_commands")
# Seconds to wait for a key to change the screen.
EFFECT_TIMEOUT_S = 1.5
STOP_TIMEOUT_S = 5.0
QUIT_TIMEOUT_S = 10.0
POLL_INTERVAL_S = 0.05
# Seconds without a change after which a dialog counts as fully drawn.
SETTLE_S = 0.3
HOOK_ANSWERED = "hook_answered"
"""Outcome of an answer that the agent's waiting hook prints."""
# Maximum number of key presses to reach a choice.
_MAX_KEY_STEPS = 12


class AgentCommander:
    def __init__(self, routes: ActionRoutes, clock: Clock):
        self._routes, self._clock = routes, clock

    async def execute(self, action: AgentAction, snapshot: PaneSnapshot) -> Outcome:
        if isinstance(action, Interrupt) and (outcome := await self._interrupt_natively(action)) is not None:
            return outcome
        keyboard, agent = self.build_keyboard(snapshot), snapshot.agent
        if isinstance(action, AnswerDialog):
            return await keyboard.pick_choice(action.choice, action.rows)
        if isinstance(action, Interrupt):
            return await keyboard.interrupt()
        return await keyboard.quit_agent(lambda: agent is None or self._routes.has_exited(agent.runtime))

    async def deliver_approval(self, action: AnswerAgent, snapshot: PaneSnapshot | None) -> Outcome:
        callback = self._routes.find_allow_callback(action.request)
        handed_over = Outcome(status="done", why=HOOK_ANSWERED, pane=action.pane, channel="native")
        return handed_over if callback is None else await callback(snapshot)

    def build_keyboard(self, snapshot: PaneSnapshot) -> "AgentKeyboard":
        interaction = snapshot.interaction
        if interaction is None:
            raise build_stale_error("no_agent", "no agent is known to run in the pane")
        return AgentKeyboard(self._routes.get_control(snapshot.view.id), snapshot, interaction, self._clock)

    async def _interrupt_natively(self, action: Interrupt) -> Outcome | None:
        """Interrupt the agent through its server; return None if the server has no turn to stop, so keys may help."""
        session_control = self._routes.get_session_control(action.pane)
        if session_control is None:
            return None
        unknown = Outcome(status="unknown", why="still_at_work", pane=action.pane)
        try:
            has_stopped = await session_control.stop_turn()
        except (TimedOut, Unavailable) as error:
            # The turn may have stopped anyway, so do not press keys as well.
            return replace(unknown, why="no_answer", text=f"the agent's server did not confirm it: {error.message}")
        except VisorError as error:
            # A rejected request had no effect, so keys can be tried.
            log.info("the server of %s rejected the interrupt: %s", action.agent, error.message)
            return None
        if has_stopped:
            return Outcome(status="done", why="interrupted", pane=action.pane, channel="native")
        return (
            None if has_stopped is None else replace(unknown, text="the agent was asked to stop but is still working")
        )


class PaneSample(Struct, frozen=True):
    """The result of one read of the pane; both fields are None if the pane is gone."""

    pane_state: PaneState | None
    screen: Screen | None


class AgentKeyboard:
    def __init__(self, control: PaneControl, snapshot: PaneSnapshot, interaction: AgentInteraction, clock: Clock):
        self._control, self._snapshot, self._interaction, self._clock = control, snapshot, interaction, clock
        self._done_outcome = Outcome(status="done", pane=snapshot.view.id, channel="keys")

    async def pick_choice(self, choice: str, rows: tuple[str, ...]) -> Outcome:
        """Answer the dialog shown in ``rows``. Raises ``StaleSnapshot`` if it was replaced before the first key."""
        # The preselected choice differs between dialogs and versions, so keys are derived from the screen, not counted.
        steps = decided = stuck = 0
        await self._wait_until_settled()
        while (step := await self._find_choice(choice, rows))[1] is not None or not steps:
            before, press = step
            if press is None:
                raise build_stale_error("dialog_changed", "another screen is shown now")
            if steps == _MAX_KEY_STEPS or decided == 2 or stuck == 2:
                return self._still_shown_outcome
            await self._press_key(press.keys[0], press.rows, is_first=not steps)
            steps, has_changed = steps + 1, await self._has_screen_changed(before)
            decided += len(press.keys) == 1
            stuck += not has_changed
            if len(press.keys) == 1 and has_changed and not await self._has_dialog_closed(choice, rows):
                return self._still_shown_outcome
        if decided:
            await self._leave_reason(choice)
            return replace(self._done_outcome, why="dialog_left")
        text = "the dialog changed while keys were pressed"
        return replace(self._done_outcome, status="unknown", why="dialog_changed", text=text)

    async def _leave_reason(self, choice: str) -> None:
        """Leave the input for a reason that some agents show after a refusal, without giving one."""
        if choice != "deny" or not self._interaction.asks_for_reasons:
            return
        await self._wait_until_settled()
        sample = await self._sample_pane()
        press = self._interaction.find_reason_keys(sample.screen) if sample.screen is not None else None
        if press is not None:
            with suppress(StaleSnapshot):  # it was left meanwhile
                await self._press_series(press)

    async def interrupt(self) -> Outcome:
        """Press the interrupt keys and wait until the screen shows that the agent is idle."""
        sample = await self._sample_pane()
        press = self._interaction.find_interrupt_keys(sample.screen) if sample.screen is not None else None
        if press is None:
            raise build_stale_error("not_at_work", "the agent's screen shows no work to interrupt")
        await self._press_series(press)
        until = self._clock.monotonic() + STOP_TIMEOUT_S
        while self._clock.monotonic() < until:
            await self._clock.sleep(POLL_INTERVAL_S)
            sample = await self._sample_pane()
            if sample.screen is None or self._interaction.read_screen(sample.screen).state in RESTING_STATES:
                return replace(self._done_outcome, why="interrupted")
        text = f"the agent did not stop within {STOP_TIMEOUT_S:g} s"
        return replace(self._done_outcome, status="unknown", why="still_at_work", text=text)

    async def quit_agent(self, is_gone: Callable[[], bool]) -> Outcome:
        """Press the agent's exit keys and wait until its process has exited."""
        sample = await self._sample_pane()
        press = self._interaction.find_exit_keys(sample.screen) if sample.screen is not None else None
        if press is None:
            raise build_stale_error("at_work", "the agent's screen no longer shows that it is idle")
        await self._press_series(press)
        until = self._clock.monotonic() + QUIT_TIMEOUT_S
        while self._clock.monotonic() < until:
            if is_gone() or (await self._sample_pane()).pane_state is None:
                return replace(self._done_outcome, why="left")
            await self._clock.sleep(POLL_INTERVAL_S)
        text = f"the agent did not exit within {QUIT_TIMEOUT_S:g} s"
        return replace(self._done_outcome, status="unknown", why="still_there", text=text)

    async def _press_series(self, press: KeyPress) -> None:
        """Press a sequence of keys. Each requires the same program in the pane, the first also the same screen rows."""
        for number, key in enumerate(press.keys):
            if number:
                await self._clock.sleep(press.pause_s)
            try:
                await self._press_key(key, press.rows if not number else (), is_first=not number)
            except StaleSnapshot:
                if not number:
                    raise
                return  # the first key already took effect: another program or screen is shown

    async def _press_key(self, key: str, rows: tuple[str, ...], *, is_first: bool) -> None:
        """Press one key. Raises ``StaleSnapshot``, without pressing it, if the guard does not hold."""
        guard = replace(self._snapshot.build_guard(), rows=find_guard_pieces(rows, self._snapshot.pane_state.width))
        mismatch = await self._control.press(guard, [key])
        if isinstance(mismatch, GuardMismatch):
            raise build_guard_error(mismatch, is_first=is_first)

    async def _wait_until_settled(self) -> None:
        # Agents drop keys while they are still drawing a dialog.
        since = self._clock.monotonic()
        until, last = since + EFFECT_TIMEOUT_S, await self._sample_pane()
        while (now := self._clock.monotonic()) < until and now - since < SETTLE_S:
            await self._clock.sleep(POLL_INTERVAL_S)
            sample = await self._sample_pane()
            if _is_changed(last, sample):
                last, since = sample, self._clock.monotonic()

    async def _has_screen_changed(self, before: PaneSample) -> bool:
        """Return True if the screen, apart from clocks and spinners, changes within ``EFFECT_TIMEOUT_S``."""
        until = self._clock.monotonic() + EFFECT_TIMEOUT_S
        while self._clock.monotonic() < until:
            await self._clock.sleep(POLL_INTERVAL_S)
            if _is_changed(before, await self._sample_pane()):
                return True
        return False

    async def _has_dialog_closed(self, choice: str, rows: tuple[str, ...]) -> bool:
        """Return True if the dialog closes within ``EFFECT_TIMEOUT_S``. Never presses the deciding key again."""
        until = self._clock.monotonic() + EFFECT_TIMEOUT_S
        while self._clock.monotonic() < until:
            if (await self._find_choice(choice, rows))[1] is None:
                return True
            await self._clock.sleep(POLL_INTERVAL_S)
        return False

    async def _find_choice(self, choice: str, rows: tuple[str, ...]) -> tuple[PaneSample, KeyPress | None]:
        """Sample the pane and return the keys that pick the choice, None if this dialog is no longer shown."""
        sample = await self._sample_pane()
        press = self._interaction.find_choice_keys(sample.screen, choice) if sample.screen is not None else None
        return sample, press if press is not None and remove_pointer(press.rows) == remove_pointer(rows) else None

    async def _sample_pane(self) -> PaneSample:
        before = self._snapshot.pane_state
        pane_state = await self._control.read_pane_state(before.pane)
        if pane_state is None or pane_state.pid != before.pid:
            return PaneSample(None, None)
        return PaneSample(pane_state, build_screen(self._snapshot.view.id, pane_state, self._clock.now()))

    @property
    def _still_shown_outcome(self) -> Outcome:
        return replace(self._done_outcome, status="unknown", why="still_shown", text="the dialog is still shown")


def _is_changed(before: PaneSample, after: PaneSample) -> bool:
    if before.screen is None or after.screen is None:
        return True
    # Some dialogs mark the selected option only by colour.
    if before.screen.highlights != after.screen.highlights:
        return True
    return [normalize_row(row) for row in before.screen.rows] != [normalize_row(row) for row in after.screen.rows]
