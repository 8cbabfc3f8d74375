"""A pane, its multiplexer and its clock in one object, all of whose calls are counted and may fail."""

import asyncio
from collections.abc import Sequence

from termvisor.actions.pane_snapshot import PaneAgent, PaneForeground, PaneSnapshot
from termvisor.backends.pane_control import (
    AppliedChange,
    AppliedPaneChange,
    GuardMismatch,
    GuardResult,
    PaneGuard,
    PaneState,
)
from termvisor.errors import MuxError, NotFound
from termvisor.model.action.action import Spawn
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.pane import InputState, PaneActivity, PaneView
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from tests.unit.agents.adapters.codex.test_screen import ASKED, HITS

NOON, HOUR_S = 1_794_802_560.0, 3600.0
FAULTS = (
    "fails",
    "fails_late",
    "cancelled",
    "pane_closes",
    "program_changes",
    "key_dropped",
    "suspended",
    "clock_set_back",
)
"""What may happen at a call: an error before or after its effect, the client leaves, the pane closes, another program
starts, the next key or text is lost, the machine sleeps for an hour, a user sets the clock."""
SCREENS = {"idle": HITS["turn_ended"], "working": HITS["working"], "dialog": ASKED}


class FaultyPane:
    """A shell at its prompt, or Codex if ``screen`` names one of its screens. ``faults`` are by number of the call."""

    started_server = ""

    def __init__(self, screen: str = "", faults: dict[int, str] | None = None):
        self.screen, self.faults = screen, dict(faults or {})
        self.calls = self.command_at = 0
        self.wall = self.uptime = NOON
        self.is_gone = self.is_dropping = self.is_replaced = self.is_exited = False
        self.input, self.title = "", "former"
        self.typed: list[str] = []
        self.submitted: list[str] = []
        self.pressed: list[str] = []
        """Keys that reached the pane, also those that its program ignored; ``decided`` are the others."""
        self.decided: list[str] = []
        self.effects: list[str] = []
        """Changes other than input: titles, opened and closed panes, signals, the server's turns."""
        services = FakeServices()
        kind = "alt_screen" if screen else "prompt"
        view = services.add_pane(build_shell_facts("%1", command=self.program))
        self.view: PaneView = services.change_pane(view.id, activity=PaneActivity(kind=kind, is_proven=not screen))

    @property
    def program(self) -> str:
        return "codex" if self.screen else "bash"

    def count_call(self) -> bool:
        """Let the fault of this call happen; return True if the call must fail after its effect."""
        self.calls += 1
        fault = self.faults.get(self.calls)
        self.is_gone |= fault == "pane_closes"
        self.is_replaced |= fault == "program_changes"
        self.is_dropping |= fault == "key_dropped"
        if fault == "suspended":
            self.wall, self.uptime = self.wall + HOUR_S, self.uptime + HOUR_S
        if fault == "clock_set_back":
            self.wall -= HOUR_S
        if fault == "fails":
            raise MuxError("no answer")
        if fault == "cancelled":
            raise asyncio.CancelledError
        return fault == "fails_late"

    # --- clock
    def now(self) -> int:
        self._count_clock_call()
        return int(self.wall * 10**9)

    def monotonic(self) -> float:
        self._count_clock_call()
        return self.uptime

    async def sleep(self, seconds: float) -> None:
        self._count_clock_call(may_cancel=True)
        self.wall, self.uptime = self.wall + seconds, self.uptime + seconds

    def _count_clock_call(self, *, may_cancel: bool = False) -> None:
        try:
            self.count_call()
        except MuxError:
            return  # a clock cannot fail
        except asyncio.CancelledError:
            if may_cancel:
                raise

    # --- pane control
    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        self._raise_if(self.count_call())
        return None if self.is_gone else self._build_state()

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        is_late, mismatch = self.count_call(), self._check(guard)
        if mismatch is None:
            self.typed.append(text)
            self.input += "" if self._is_dropped() else text
        self._raise_if(is_late)
        return mismatch or AppliedChange()

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        is_late, mismatch = self.count_call(), self._check(guard)
        if mismatch is None:
            self.pressed += keys
            self._react([] if self._is_dropped() else list(keys))
        self._raise_if(is_late)
        return mismatch or AppliedChange()

    async def change_pane(self, guard: PaneGuard, change: str, value: str = "") -> GuardMismatch | AppliedPaneChange:
        is_late, mismatch = self.count_call(), self._check(guard)
        if mismatch is None:
            self.effects.append(change)
            self.is_gone |= change == "close"
        self._raise_if(is_late)
        return mismatch or AppliedPaneChange(old_title="former", old_front=MuxPaneId("%1"), new_title=value)

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None) -> tuple[MuxPaneId, int]:
        is_late = self.count_call()
        self.effects.append("open")
        self._raise_if(is_late)
        return MuxPaneId("%2"), 2000

    def _react(self, keys: list[str]) -> None:
        if keys == ["Enter"]:
            self.submitted.append(self.input)
            self.input, self.command_at = "", int(self.wall * 10**9)
            return
        self.decided += keys
        self.input = "" if keys == ["C-u"] else self.input
        self.is_exited |= self.screen == "idle" and keys == ["C-c"]
        if (self.screen, *keys) in (("dialog", "y"), ("working", "Escape")):
            self.screen = "idle"

    def _is_dropped(self) -> bool:
        is_dropped, self.is_dropping = self.is_dropping, False
        return is_dropped

    def _check(self, guard: PaneGuard) -> GuardMismatch | None:
        state = self._build_state()
        if self.is_gone:
            return GuardMismatch("pane", guard.pane, "gone")
        if guard.command not in (None, state.command):
            return GuardMismatch("command", guard.command or "", state.command)
        if guard.cursor not in (None, (state.cursor_x, state.cursor_y)):
            return GuardMismatch("cursor", str(guard.cursor), f"{state.cursor_x}/{state.cursor_y}")
        for piece in (guard.shows, *guard.rows):
            if not any(piece in row for row in state.rows):
                return GuardMismatch("screen", piece, "not in any row")
        return None

    def _raise_if(self, is_late: bool) -> None:
        if is_late:
            raise MuxError("no answer")

    def _build_state(self) -> PaneState:
        sign, below = ("›", SCREENS[self.screen]) if self.screen else ("$", ("$ ",))
        rows = [f"{sign} {line}" for line in self.submitted] + list(below)
        cursor_y = len(rows) - (3 if self.screen else 1)
        if self.input:
            rows[cursor_y] = f"{sign} {self.input}"
        return PaneState(
            pane=MuxPaneId("%1"),
            pid=1000,
            command="other" if self.is_replaced else self.program,
            dead=False,
            in_mode=False,
            input_off=False,
            synchronized=False,
            alternate=bool(self.screen),
            width=100,
            height=40,
            cursor_x=2 + len(self.input),
            cursor_y=cursor_y,
            cursor_visible=True,
            rows=tuple(rows),
            title=self.title,
        )

    # --- what the gate knows about panes
    async def get_pane(self, pane: PaneId) -> PaneView:
        return self.view

    async def take_snapshot(self, pane: PaneId, preconditions: Preconditions) -> PaneSnapshot:
        self._raise_if(self.count_call())
        if self.is_gone:
            raise NotFound("pane 1 no longer exists")
        state = "running" if self.screen == "working" else "idle"
        agent = PaneAgent(name="codex", runtime=RuntimeId(1), pid=1000, state=state)
        return PaneSnapshot(
            view=self.view,
            pane_state=self._build_state(),
            input_place=InputState(column=2),
            observed_at=int(self.wall * 10**9),
            foreground=PaneForeground(group=await self.find_foreground_group(pane)),
            shell="1000",
            agent=agent if self.screen else None,
            undo_target=preconditions.undoes,
        )

    def get_control(self, pane: PaneId) -> "FaultyPane":
        self._count_clock_call()
        if self.is_gone:
            raise NotFound("pane 1 no longer exists")
        return self

    async def get_pane_opener(self, spawn: Spawn) -> "FaultyPane":
        return self

    def get_session_control(self, pane: PaneId) -> None:
        return None

    def get_command_times(self, pane: PaneId) -> dict[str, int]:
        return {"1000": self.command_at}

    def has_turn_started(self, pane: PaneId, since: int) -> bool:
        return False

    async def count_read_bytes(self, pane: PaneId, pid: int) -> int | None:
        return len("".join(self.typed)) + len(self.submitted)

    async def count_unread_bytes(self, pane: PaneId) -> int | None:
        return 0

    async def find_foreground_group(self, pane: PaneId) -> int:
        return 2000 if self.is_replaced else 1000

    async def is_busy(self, pane: PaneId) -> bool:
        return False

    def has_exited(self, runtime: RuntimeId) -> bool:
        return self.is_exited

    async def find_last_command_line(self, pane: PaneId, since: int) -> str | None:
        self._raise_if(self.count_call())
        return self.submitted[-1] if self.submitted and self.command_at >= since else None

    async def send_signal(self, snapshot: PaneSnapshot, name: str) -> int:
        self.effects.append(name)
        return 1000
