"""The contract of a backend (`Backend`): find the servers of one kind of terminal, open them, act on their panes.

Nothing above this package names a kind: it goes by `Abilities`, and what a backend is not able to do raises
Unsupported. `registry.py` lists the built-in backends and loads those of other packages.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from msgspec import Struct

from termvisor.backends.pane_control import Guarantee, PaneControl
from termvisor.backends.pane_source import PaneSource, ReportNews
from termvisor.backends.pane_terminal import PaneTerminal
from termvisor.backends.screen_renderer import BuildRenderer
from termvisor.backends.transport import Transport
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.target import AttachPlan
from termvisor.settings import Paths, Settings


class Abilities(Struct, frozen=True, kw_only=True):
    """What the panes of a backend support. The contract suite expects Unsupported for everything else."""

    streams: bool = True
    """Every byte of output is captured; otherwise only what repeated screens prove."""
    guards: Guarantee = "atomic"
    pastes: bool = True
    """A text is typed as one paste, which the program can tell from keys."""
    spawns: bool = True
    """Panes can be opened."""
    is_default_place: bool = True
    """Panes are opened there if the caller names no backend."""
    closes: bool = True
    """Panes can be closed."""
    titles: bool = True
    """Titles can be set."""
    activates: bool = True
    """A pane can be made the active one of its session."""
    viewers: bool = True
    """The terminals that show a pane are known, and when a user typed in them."""
    processes: bool = True
    """A pane's first process is known and proves the pane's identity."""
    history: bool = True
    """Scrollback can be captured."""
    attach_passes_gate: bool = True
    """Attaching gives the caller nothing that types beside the gate; otherwise only a person may attach."""


class ForkCounter:
    """Counts the programs that backends start; the health report shows the number."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


class BackendDependencies(Struct, frozen=True, kw_only=True):
    """What a backend is built from; settings are read when they are needed, because they can change."""

    paths: Paths
    get_settings: Callable[[], Settings]
    count_fork: Callable[[], None] = lambda: None
    """Called for each program that is started (`ForkCounter`)."""
    build_renderer: BuildRenderer = lambda: None
    """Renders screens for backends that have the bytes of a terminal, but no emulator on this machine."""


@runtime_checkable
class OwnServerBackend(Protocol):
    """A backend that starts its server itself, with the first pane, and keeps it beyond the daemon."""

    async def start_server(self, transport: Transport) -> bool:
        """Start the server unless it runs. Returns False where the target has none. Raises Unavailable."""

    async def release_server(self, *, upgrades: bool) -> None:
        """Disconnect at the end of the daemon; with ``upgrades`` the server becomes the installed version first.

        Without it, a server without panes exits.
        """


class Backend(Protocol):
    """One kind of terminal with panes."""

    name: str
    abilities: Abilities

    def explain_unavailable(self) -> str:
        """Return why no server can be opened now, with the remedy, such as a missing program; empty if they can."""

    async def list_addresses(self, transport: Transport) -> list[str]:
        """Return the addresses to watch on the target, whether or not a server is there now."""

    async def list_named_addresses(self, transport: Transport) -> list[str] | None:
        """Return the addresses that the settings name; None if they name none and all that are found are watched.

        The health report shows a named address where no server runs, and a server that is no longer named is left.
        """

    async def is_listening(self, transport: Transport, address: str) -> bool:
        """Return True if a server of this user accepts connections at the address. Must not start one."""

    async def open_server(self, transport: Transport, address: str, report: ReportNews) -> PaneSource:
        """Connect to the server at the address. Raises MuxError if it does not answer."""

    async def start_server_with_pane(
        self, transport: Transport, address: str, spawn: Spawn, gate: str
    ) -> tuple[MuxPaneId, int]:
        """Start a server with the pane of a new session, as `PaneControl.open_pane` does. Raises Unsupported."""

    def is_server_alive(self, transport: Transport, server: ServerInstance) -> bool | None:
        """Return True if this server process still runs, None if that is unknown. Unknown is not dead."""

    def build_control(self, source: PaneSource) -> PaneControl:
        """Return the control of the panes of an open server."""

    def build_terminal(self, source: PaneSource) -> PaneTerminal:
        """Return the access to the terminals of an open server's panes."""

    def plan_attach(self, server: ServerInstance, facts: PaneFacts) -> AttachPlan:
        """Return how a person's terminal shows the pane."""
