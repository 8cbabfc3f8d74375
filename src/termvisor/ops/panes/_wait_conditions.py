"""Conditions that `wait_for` checks: text, the end of a command, an agent's state, silence, the end of the pane.

The awaited command is chosen once: the running one or, with a cursor or if none is running, the first one that starts
afterwards. A command typed at a prompt completes the prompt line at which the cursor was taken. Therefore, its output
begins at least two lines after the cursor, which is not true for a command that started before the cursor was taken.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from termvisor.clock import NS
from termvisor.errors import AgentNotFound, MuxError, NotFound
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.state import StateName
from termvisor.model.ids import CommandId
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import Line, LinePosition
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._pane_agents import parse_state_filter
from termvisor.ops.api.services import Services
from termvisor.ops.panes._text_cursor import find_last_line_number

WaitOutcome = Literal["matched", "finished", "lost", "quiet", "gone", "died", "state"]
# Limits the memory usage of a wait that starts far back.
_LINES_PER_PAGE = 1000
# Minimum seconds between two captures of a screen that keeps changing.
_MIN_CAPTURE_INTERVAL_S = 0.25
# The condition changes only with an update; the delay is an upper bound in case one is missed.
_NO_RETRY_S = 3600.0


class ConditionResult(Struct, frozen=True, kw_only=True):
    """How a condition was met."""

    outcome: WaitOutcome
    line: Line | None = None
    pending: str | None = None
    shown: str | None = None
    command: ShellCommand | None = None
    view: AgentView | None = None


class WaitCondition(ABC):
    @abstractmethod
    async def check(self, pane: PaneView) -> ConditionResult | None:
        """Return how the condition is met, or None."""

    def get_retry_delay(self, pane: PaneView) -> float:
        """Return the seconds after which to check again even without an update."""
        return _NO_RETRY_S


class PatternCondition(WaitCondition):
    """A line after ``start``, the incomplete last line or a row of the alternate screen matches."""

    def __init__(self, services: Services, is_match: Callable[[str], bool], start: LinePosition):
        self._services, self._is_match, self._position = services, is_match, start
        self._screen = ScreenTextMatcher(services, is_match)

    async def check(self, pane: PaneView) -> ConditionResult | None:
        is_last_page = False
        # In pages, because the output after an old cursor can be long.
        while not is_last_page:
            lines, self._position = await self._services.history.list_lines_since(
                pane.id, self._position, _LINES_PER_PAGE
            )
            is_last_page = len(lines) < _LINES_PER_PAGE
            for line in lines:
                if self._is_match(line.text):
                    return ConditionResult(outcome="matched", line=line)
        # A prompt or a progress bar has no newline yet, so it is not among the lines.
        pending = self._services.panes.get_pending_line(pane.id)
        if pending and self._is_match(pending):
            return ConditionResult(outcome="matched", pending=pending)
        row = await self._screen.find_row(pane)
        return None if row is None else ConditionResult(outcome="matched", shown=row)

    def get_retry_delay(self, pane: PaneView) -> float:
        return self._screen.get_retry_delay()


class ScreenTextMatcher:
    """Searches the alternate screen. Programs that use it print no lines, so only the screen can be matched."""

    def __init__(self, services: Services, is_match: Callable[[str], bool]):
        self._services, self._is_match = services, is_match
        self._next_capture_at = 0.0
        self._is_early = False

    async def find_row(self, pane: PaneView) -> str | None:
        """Return the first matching row; None if there is none or the last capture is too recent."""
        if pane.activity.kind != "alt_screen" or pane.gone_at is not None:
            self._is_early = False
            return None
        now = self._services.clock.monotonic()
        self._is_early = now < self._next_capture_at
        if self._is_early:
            return None
        self._next_capture_at = now + _MIN_CAPTURE_INTERVAL_S
        # The pane is closing; the next update reports that.
        with suppress(MuxError, NotFound):
            screen = await self._services.panes.capture_screen(pane.id)
            return next(filter(self._is_match, screen.rows), None)
        return None

    def get_retry_delay(self) -> float:
        """Return the seconds until a capture that was skipped may be taken."""
        return max(0.0, self._next_capture_at - self._services.clock.monotonic()) if self._is_early else _NO_RETRY_S


class AwaitedCommand(Struct, frozen=True):
    """A command by id, or the first one whose output begins more than one line after ``after``."""

    id: CommandId | None
    after: int


async def choose_awaited_command(services: Services, pane: PaneView, since: int | None) -> AwaitedCommand:
    """Choose the command to wait for; ``since`` is the line number of a cursor."""
    # At a prompt nothing is running, even if the end of the last command was never reported.
    if since is None and pane.activity.kind != "prompt":
        last = await services.history.commands.find(pane.id, "last")
        if last is not None and last.status == "running":
            return AwaitedCommand(last.id, 0)
    return AwaitedCommand(None, await find_last_line_number(services, pane.id) if since is None else since)


class CommandCondition(WaitCondition):
    """The awaited command has ended, or its end was missed (`lost`)."""

    def __init__(self, services: Services, target: AwaitedCommand):
        self._services, self._target = services, target

    async def check(self, pane: PaneView) -> ConditionResult | None:
        commands, target = self._services.history.commands, self._target
        command = await (
            # One line further than the cursor: the prompt line itself is completed by the typed command.
            commands.find_after_line(pane.id, target.after + 1)
            if target.id is None
            else commands.find(pane.id, target.id)
        )
        if command is None or command.status == "running":
            return None
        return ConditionResult(outcome="finished" if command.status == "finished" else "lost", command=command)


async def explain_missed_command(services: Services, pane: PaneView) -> str:
    """Return a hint for a wait that timed out before a command ended."""
    last = await services.history.commands.find(pane.id, "last")
    if last is None:
        return "This shell does not report its commands; run `visor setup shell` to enable that."
    if last.status == "running":
        return "The command is still running. Increase the limit with --timeout-secs."
    return "If the command ended before this call, take a cursor before you send it and pass it with --since."


class StateCondition(WaitCondition):
    """The agent is in one of the states, which began after ``after``. Raises AgentNotFound if a seen agent ends."""

    def __init__(self, services: Services, states_text: str, after: int = -1):
        self._services, self._states_text, self._after = services, states_text, after
        self._states: frozenset[StateName] = parse_state_filter(states_text)
        self._agent_process: int | None = None

    async def check(self, pane: PaneView) -> ConditionResult | None:
        if pane.gone_at is not None:
            return None
        view = (await self._services.agents.list_views(pane.id)).get(pane.id)
        # A new agent in the same pane is not the one that the caller waits for.
        if self._agent_process is not None and (view is None or view.state.runtime != self._agent_process):
            raise AgentNotFound(
                f"the agent in pane {pane.id} exited before it was {self._states_text}", details={"pane": pane.id}
            )
        if view is None:
            return None
        self._agent_process = view.state.runtime
        is_met = view.state.value in self._states and view.began_at > self._after
        return ConditionResult(outcome="state", view=view) if is_met else None


class GoneCondition(WaitCondition):
    """The pane was closed, or its program exited and left a dead pane."""

    async def check(self, pane: PaneView) -> ConditionResult | None:
        if pane.gone_at is not None:
            return ConditionResult(outcome="gone")
        # With `remain-on-exit` tmux keeps the pane of a program that exited.
        return ConditionResult(outcome="died") if pane.facts.dead else None


class QuietCondition(WaitCondition):
    """The pane printed nothing for ``seconds``."""

    def __init__(self, services: Services, seconds: float):
        self._services, self._seconds = services, seconds

    async def check(self, pane: PaneView) -> ConditionResult | None:
        return ConditionResult(outcome="quiet") if self.get_retry_delay(pane) <= 0 and pane.gone_at is None else None

    def get_retry_delay(self, pane: PaneView) -> float:
        # A pane that never printed has been quiet since it was discovered.
        last = pane.last_output_at if pane.last_output_at is not None else pane.first_seen_at
        return self._seconds - (self._services.clock.now() - last) / NS
