"""A scripted agent screen that reacts to keys, and a clock that does not wait."""

from collections.abc import Callable, Sequence

from termvisor.actions.input_line import parse_row
from termvisor.actions.pane_snapshot import PaneAgent, PaneSnapshot
from termvisor.backends.pane_control import AppliedChange, GuardMismatch, GuardResult, PaneGuard, PaneState
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.pane import InputState, PaneActivity, PaneView
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


class HastyClock:
    def __init__(self) -> None:
        self.at = 1_794_802_560.0

    def now(self) -> int:
        return int(self.at * 10**9)

    def monotonic(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


class ScriptedPaneControl:
    """A PaneControl whose pane shows ``rows``; ``on_key`` changes them."""

    def __init__(self, rows: Sequence[str], on_key: Callable[["ScriptedPaneControl", str], None]):
        self.rows, self.on_key = list(rows), on_key
        self.keys: list[str] = []
        self.is_gone = self.is_broken = False

    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        if self.is_broken:
            raise MuxError("no answer")
        return None if self.is_gone else build_pane_state(self.rows)

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        for piece in guard.rows:
            if not any(piece in parse_row(row).text for row in self.rows):
                return GuardMismatch("screen", piece, "not in any row")
        self.keys += keys
        for key in keys:
            self.on_key(self, key)
        return AppliedChange()


def build_pane_state(rows: Sequence[str]) -> PaneState:
    return PaneState(
        pane=MuxPaneId("%1"),
        pid=1000,
        command="codex",
        dead=False,
        in_mode=False,
        input_off=False,
        synchronized=False,
        alternate=True,
        width=100,
        height=40,
        cursor_x=0,
        cursor_y=0,
        cursor_visible=True,
        rows=tuple(rows),
    )


def build_pane_view() -> PaneView:
    services = FakeServices()
    found = services.add_pane(build_shell_facts("%1", command="codex"))
    return services.change_pane(found.id, activity=PaneActivity(kind="alt_screen"))


def build_snapshot(rows: Sequence[str], agent: str = "codex", state: str = "idle", **more: object) -> PaneSnapshot:
    clock = HastyClock()
    pane_agent = PaneAgent(name=agent, runtime=RuntimeId(1), pid=1000, state=state)
    fields = {
        "view": build_pane_view(),
        "pane_state": build_pane_state(rows),
        "input_place": InputState(),
        "observed_at": clock.now(),
        "agent": pane_agent,
    }
    return PaneSnapshot(**{**fields, **more})
