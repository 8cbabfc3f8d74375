"""Panes: where they run (target, server), their identity, the facts that the multiplexer reports, their activity."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.output import GapCause

TargetKind = Literal["local", "ssh", "docker", "podman", "wezterm", "kitty"]


class Target(Struct, frozen=True):
    """A machine, container or terminal that panes run in."""

    name: TargetName
    kind: TargetKind


LOCAL = Target(TargetName("local"), "local")


class ServerInstance(Struct, frozen=True):
    """One multiplexer server process. ``started`` is the process start in clock ticks since boot."""

    target: TargetName
    socket: str
    pid: int
    started: int


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
    history_limit: int = 0


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


CaptureChannel = Literal["pipe", "control", "none"]


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
