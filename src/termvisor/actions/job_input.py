"""Type a text or a secret into the terminal of a job that waits for input.

The proof that it waits comes from the kernel, right before the text is typed and again before Enter is pressed: the
program that was checked still has the terminal. Unlike a text for a pane, the text need not appear on the screen,
because a program that asks for a secret does not show it.
"""

from typing import Protocol

from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.precondition_failure import build_guard_error, build_stale_error
from termvisor.backends.pane_control import GuardMismatch, PaneControl
from termvisor.clock import Clock
from termvisor.errors import ObjectNotFound
from termvisor.model.action.action import RunJob, SendJobInput, StopJob
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId
from termvisor.system.terminal_wait import TerminalWait

_TAKEN_TIMEOUT_S = 2.0
_POLL_INTERVAL_S = 0.01


class JobControl(Protocol):
    """What actions need of the jobs, implemented by the daemon (a higher layer)."""

    async def start_job(self, action: RunJob, correlation: str) -> Outcome:
        """Start a job. Raises VisorError if its terminal cannot be opened."""

    async def stop_job(self, action: StopJob) -> Outcome:
        """End a job. Raises NotFound."""

    def probe_terminal(self, pane: PaneId) -> TerminalWait:
        """Return what the program in a terminal does about its input now."""

    def is_waiting(self, job: int) -> bool:
        """Return True if the job was last seen waiting for input."""

    def get_secret(self, digest: str) -> str | None:
        """Return the secret with this digest; None if it was forgotten."""

    def note_input(self, job: int) -> None:
        """Look at the job again at once: something was typed."""


class JobInputTyper:
    def __init__(self, jobs: JobControl, control: PaneControl, clock: Clock):
        self._jobs, self._control, self._clock = jobs, control, clock

    async def type_input(self, action: SendJobInput, snapshot: PaneSnapshot) -> Outcome:
        """Type the input. Raises ``StaleSnapshot``, without typing, if the job does not wait for it."""
        text = self._jobs.get_secret(action.secret) if action.secret else action.text
        if text is None:
            raise ObjectNotFound("the secret is no longer known", hint="Send it again: it is kept in memory only.")
        before = self._check_waiting(action)
        if action.secret and snapshot.foreground.is_shell and not before.asks_secret:
            raise build_stale_error("shell_reads", "a shell reads the input and would run the secret as a command")
        if text and isinstance(mismatch := await self._control.write(snapshot.build_guard(), text), GuardMismatch):
            raise build_guard_error(mismatch)
        if action.enter:
            # The text without Enter stays in the terminal, and another program could take it.
            if self._jobs.probe_terminal(action.pane).group != before.group:
                why = "another program has the terminal now; the text was typed, Enter was not pressed"
                return Outcome(status="typed_not_submitted", why="program_changed", text=why, pane=action.pane)
            if isinstance(mismatch := await self._control.press(snapshot.build_guard(), ["Enter"]), GuardMismatch):
                text = f"expected {mismatch.expected}, found {mismatch.actual}"
                return Outcome(status="typed_not_submitted", why=f"stale_{mismatch.what}", text=text, pane=action.pane)
        self._jobs.note_input(action.job)
        return await self._confirm(action, before, len(text.encode("utf-8", "replace")))

    def _check_waiting(self, action: SendJobInput) -> TerminalWait:
        wait = self._jobs.probe_terminal(action.pane)
        is_reading = wait.level == "reads" or (wait.level != "no" and self._jobs.is_waiting(action.job))
        if not (is_reading or action.is_forced):
            raise build_stale_error("not_waiting", f"job {action.job} does not wait for input")
        # Another text would be joined to bytes that the program has not read yet.
        if wait.unread and not action.is_forced:
            raise build_stale_error("input_not_empty", f"job {action.job} has not read its earlier input yet")
        if action.secret and wait.is_echoing and wait.is_canonical and not action.is_forced:
            hint = "The terminal would show it; `--force` types it all the same, masked in everything that is stored."
            error = build_stale_error("echoes", f"job {action.job} does not ask for a secret: its terminal echoes")
            error.hint = hint
            raise error
        return wait

    async def _confirm(self, action: SendJobInput, before: TerminalWait, size: int) -> Outcome:
        """Wait until the program has read what was typed."""
        if not action.enter:
            return Outcome(status="typed_not_submitted", why="as_wanted", pane=action.pane, bytes_sent=size)
        until = self._clock.monotonic() + _TAKEN_TIMEOUT_S
        while self._clock.monotonic() < until:
            wait = self._jobs.probe_terminal(action.pane)
            # With the terminal or the program gone, its input is gone too: it has read it, or it ended by itself.
            if wait.unread == 0 or wait.unread is None or wait.group != before.group:
                return Outcome(status="delivered", why="taken", pane=action.pane, bytes_sent=size)
            await self._clock.sleep(_POLL_INTERVAL_S)
        text = "the program has not read it yet"
        return Outcome(status="unknown", why="not_read", text=text, pane=action.pane, bytes_sent=size)
