"""An agent's screen that answers keys as a test says, and a clock that does not wait."""

from collections.abc import Callable, Sequence

from termvisor.actions.pane_agent import Tenant
from termvisor.actions.preconditions import Belief
from termvisor.backends.pane_control import Guard, Mismatch, Sight
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.pane import Activity, InputPlace, PaneView
from termvisor.testing.world import MemoryWorld, shell

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


class Painted:
    """A PaneControl whose pane shows ``rows``; ``heard`` says what a key makes of them."""

    def __init__(self, rows: Sequence[str], heard: Callable[["Painted", str], None]):
        self.rows, self.heard = list(rows), heard
        self.keys: list[str] = []
        self.is_gone = self.is_broken = False

    async def see(self, pane: MuxPaneId) -> Sight | None:
        if self.is_broken:
            raise MuxError("no answer")
        return None if self.is_gone else sight(self.rows)

    async def press(self, guard: Guard, keys: Sequence[str]) -> Mismatch | None:
        for piece in guard.rows:
            if not any(piece in row for row in self.rows):
                return Mismatch("screen", piece, "not in any row")
        self.keys += keys
        for key in keys:
            self.heard(self, key)
        return None


def sight(rows: Sequence[str]) -> Sight:
    return Sight(
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


def view() -> PaneView:
    world = MemoryWorld()
    found = world.pane(shell("%1", command="codex"))
    return world.change(found.id, activity=Activity(kind="alt_screen"))


def belief(rows: Sequence[str], agent: str = "codex", state: str = "idle", **more: object) -> Belief:
    clock = HastyClock()
    tenant = Tenant(agent=agent, runtime=RuntimeId(1), pid=1000, state=state)
    known = {"view": view(), "sight": sight(rows), "place": InputPlace(), "observed_at": clock.now(), "tenant": tenant}
    return Belief(**{**known, **more})
