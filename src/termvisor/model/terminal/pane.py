"""Panes: where they run (target, server), their identity, the facts that the multiplexer reports, their activity."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.output import GapCause
from termvisor.model.terminal.target import ServerKey


class ServerInstance(Struct, frozen=True):
    """One server process that runs panes. ``started`` is the process start in clock ticks since boot.

    A process id and its start may repeat after a reboot, so ``boot`` identifies the boot; it is empty if unknown.
    """

    target: TargetName
    socket: str
    """Its address on the target."""
    pid: int
    started: int
    boot: str = ""
    backend: str = "tmux"
    """The backend that runs the panes. Servers that were stored without one are tmux's."""

    @property
    def key(self) -> ServerKey:
        return ServerKey(self.target, self.socket)

    def is_same_process(self, other: "ServerInstance") -> bool:
        """Return True if both describe one process. An unknown boot is compared with none."""
        is_same_boot = "" in (self.boot, other.boot) or self.boot == other.boot
        own, others = (self.target, self.socket, self.pid, self.started), (other.target, other.socket, other.pid)
        return is_same_boot and own == (*others, other.started)


class PaneInstance(Struct, frozen=True):
    """The identity of a pane in a server process."""

    server: ServerInstance
    mux_id: MuxPaneId
    generation: int = 0


class PaneFacts(Struct, frozen=True, kw_only=True):
    """The facts that the multiplexer reports about a pane at one moment. Free text is already redacted."""

    mux_id: MuxPaneId
    pid: int
    pid_started: int = 0
    session_id: str = ""
    session_name: str = ""
    session_attached: int = 0
    session_clients: tuple[str, ...] = ()
    """The terminals attached to its session."""
    session_ends_unattached: bool = False
    window_id: str = ""
    window_index: int = 0
    window_name: str = ""
    pane_index: int = 0
    active: bool = False
    tty: str = ""
    command: str = ""
    cwd: str = ""
    title: str = ""
    width: int = 0
    height: int = 0
    alternate: bool = False
    in_mode: bool = False
    dead: bool = False
    dead_status: int | None = None
    dead_signal: int | None = None
    piped: bool = False
    """Its only stream of output is in use, by us or another program."""
    history_limit: int = 0
    process: Literal["proven", "fingerprint", "none"] = "proven"
    """What proves that it is still the same pane: its process, a fingerprint of it, or nothing."""
    fingerprint: str = ""


ActivityKind = Literal["prompt", "command", "alt_screen", "gap", "unknown"]


class PaneActivity(Struct, frozen=True, kw_only=True):
    """What a pane is doing. Computed from marks and the stream, never from text that looks like a prompt.

    ``is_proven`` is true only for marks that carried the nonce.
    """

    kind: ActivityKind = "unknown"
    since: int | None = None
    command_line: str | None = None
    last_exit: int | None = None
    is_proven: bool = False


class InputState(Struct, frozen=True):
    """The input state known from the stream: the start column of a shell's input, and whether bracketed paste is on.

    None means unknown.
    """

    column: int | None = None
    is_paste_on: bool | None = None


DataPlane = Literal["pipe", "control", "pty", "polled"]
"""How the output of a pane is captured: a pipe of the multiplexer, its control mode, our own terminal, screens."""

CaptureChannel = Literal[DataPlane, "none"]


class PaneView(Struct, frozen=True, kw_only=True):
    """A pane as front ends show it: identity, facts, captured output. Times are nanoseconds since 1970."""

    id: PaneId
    instance: PaneInstance
    facts: PaneFacts
    activity: PaneActivity = PaneActivity()
    heard_by: CaptureChannel = "none"
    gap_cause: GapCause | None = None
    """Why the pane is not captured now, although it was."""
    first_seen_at: int = 0
    last_output_at: int | None = None
    gone_at: int | None = None
    bytes_heard: int = 0
    bytes_per_second: float = 0.0
    gaps: int = 0
    lines: int = 0
