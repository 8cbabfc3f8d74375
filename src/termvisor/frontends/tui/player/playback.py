"""The state of a replay: current frame, speed, seeking and key commands. Pure: time passes only in `advance`.

Invariant: the position never skips a frame that was not shown, and never runs ahead of the fetched frames.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, get_args

from msgspec import Struct

from termvisor.clock import NS
from termvisor.frontends.tui.raw_terminal import NAVIGATION_KEYS
from termvisor.model.terminal.screen import ReplayFrame

MAX_IDLE_NS = 2 * NS
"""Longer idle times are shortened to this."""
MAX_FRAMES = 4000
"""Maximum frames kept in memory. Seeking back to an older frame fetches it again."""
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
SEEK_SECONDS = {"left": -10, "right": 10, "down": -60, "up": 60, "page_down": -600, "page_up": 600}

PLAYER_KEYS = NAVIGATION_KEYS | {
    b" ": "pause",
    b"\x1b[D": "left",
    b"\x1bOD": "left",
    b"\x1b[C": "right",
    b"\x1bOC": "right",
    b"\x1b[1;2D": "down",
    b"\x1b[1;2C": "up",
    b".": "step",
    b",": "step_back",
    b"e": "next_event",
    b"E": "previous_event",
    b"+": "faster",
    b"=": "faster",
    b"-": "slower",
    b"i": "idle",
}

PlayerCommand = Literal["quit", "next_event", "previous_event"]
PLAYER_COMMANDS: dict[str, PlayerCommand] = {command: command for command in get_args(PlayerCommand)}


class SeekRequest(Struct, frozen=True):
    """A position that is not in memory. Frames must be fetched from there on."""

    at: int


class Playback:
    def __init__(self, speed: float = 1.0, *, is_from_start: bool = True):
        self.speed = speed
        self.is_paused = False
        self.shortens_idle = True
        self.has_all = False
        """True if no more frames will arrive."""
        self._is_from_start = is_from_start
        self._frame_before_seek: ReplayFrame | None = None
        self._frames: list[ReplayFrame] = []
        self._times: list[int] = []
        self._index = 0
        self.position = 0

    @property
    def frame(self) -> ReplayFrame | None:
        """The frame to show; after a seek, the old frame until the first new one arrives."""
        return self._frames[self._index] if self._frames else self._frame_before_seek

    @property
    def last_at(self) -> int | None:
        return self._times[-1] if self._times else None

    @property
    def frames_ahead(self) -> int:
        """The number of fetched frames after the current one."""
        return max(0, len(self._frames) - self._index - 1)

    @property
    def is_at_end(self) -> bool:
        return self.has_all and self.frames_ahead == 0

    def add_frames(self, frames: Sequence[ReplayFrame]) -> None:
        """Append later frames in order, and drop the oldest ones beyond MAX_FRAMES."""
        if frames and not self._frames:
            self.position = frames[0].at
        self._frames += frames
        self._times += (frame.at for frame in frames)
        # Frames after the current one are never dropped.
        surplus = min(len(self._frames) - MAX_FRAMES, self._index)
        if surplus > 0:
            del self._frames[:surplus], self._times[:surplus]
            self._index -= surplus
            self._is_from_start = False

    def restart_at(self, at: int | None) -> None:
        """Drop all frames. The next frames start at ``at``."""
        self._frame_before_seek = self.frame
        self._frames, self._times, self._index = [], [], 0
        self._is_from_start, self.has_all = at is None, False
        self.position = at or 0

    def advance(self, seconds: float) -> None:
        if self.is_paused or not self._frames:
            return
        self.position += int(seconds * self.speed * NS)
        while self.frames_ahead and (due := self._find_next_time()) <= self.position:
            self._index += 1
            # After shortened idle time, jump to the frame's own time.
            self.position = max(self._times[self._index], self.position if due == self._times[self._index] else 0)
        if not self.frames_ahead:
            # While more frames are being fetched, the position may run slightly ahead, but not past unseen output.
            self.position = min(self.position, self._times[-1] + (0 if self.has_all else MAX_IDLE_NS))

    def compute_delay(self) -> float | None:
        """Return the seconds until the next frame is due; None if there is none."""
        if self.is_paused or not self.frames_ahead:
            return None
        return max(0.0, (self._find_next_time() - self.position) / NS / self.speed)

    def handle_key(self, key: str) -> PlayerCommand | SeekRequest | None:
        if key in PLAYER_COMMANDS:
            return PLAYER_COMMANDS[key]
        if key in SEEK_SECONDS:
            return self.seek_to(self.position + SEEK_SECONDS[key] * NS)
        if key == "home":
            return self.seek_to(0)
        if key == "pause":
            self.is_paused = not self.is_paused
        elif key == "idle":
            self.shortens_idle = not self.shortens_idle
        elif key in ("step", "step_back"):
            self._step(1 if key == "step" else -1)
        elif key in ("faster", "slower"):
            self._change_speed(1 if key == "faster" else -1)
        return None

    def seek_to(self, at: int) -> SeekRequest | None:
        """Go to a time. Return a SeekRequest if its frames must be fetched."""
        if not self._frames:
            return None
        is_before = at < self._times[0] and not self._is_from_start
        is_beyond = at > self._times[-1] and not self.has_all
        if is_before or is_beyond:
            return SeekRequest(max(0, at))
        self._index = max(0, bisect_right(self._times, at) - 1)
        self.position = min(max(at, self._times[0]), self._times[-1])
        return None

    def _find_next_time(self) -> int:
        """Return when the next frame is due, which is before its own time if idle time is shortened."""
        due = self._times[self._index + 1]
        return min(due, self._times[self._index] + MAX_IDLE_NS) if self.shortens_idle else due

    def _step(self, by: int) -> None:
        self.is_paused = True
        if 0 <= self._index + by < len(self._frames):
            self._index += by
            self.position = self._times[self._index]

    def _change_speed(self, by: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self.speed))
        self.speed = SPEEDS[max(0, min(nearest + by, len(SPEEDS) - 1))]
