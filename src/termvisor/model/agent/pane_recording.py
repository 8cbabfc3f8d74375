"""A recording of a pane that a user labelled: JSON Lines that `agents record` writes and `agents test` replays."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import StateName


class PaneRecordingLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `state` line starts a part of the recording: the state that the user saw, and how the agent ran. Then follow
    the screens of that part, each when it had changed, and its output: raw bytes (base64), redacted like the screens.
    """

    kind: Literal["state", "screen", "output"]
    at: str
    state: StateName | None = None
    agent: str = ""
    agent_version: str = ""
    width: int = 0
    height: int = 0
    rows: tuple[str, ...] = ()
    cursor_x: int = 0
    cursor_y: int = 0
    is_alternate: bool = False
    data: bytes = b""
