"""Run `visor replay` in a terminal: fetch frames, advance, paint, and wait for a key, the next frame or more data."""

from termvisor.client.daemon_process import ensure_running
from termvisor.clock import NS, SystemClock
from termvisor.errors import BadRequest
from termvisor.frontends.tui.player.frame_buffer import FrameBuffer
from termvisor.frontends.tui.player.frame_view import FrameView, build_view, encode_changes
from termvisor.frontends.tui.player.playback import PLAYER_KEYS, Playback, PlayerCommand, SeekRequest
from termvisor.frontends.tui.raw_terminal import KeyDecoder, RawTerminal
from termvisor.model.event import Event
from termvisor.ops.history.replay import ReplayArgs
from termvisor.ops.render.results import parse_time_filter
from termvisor.settings import resolve_paths

_PREFETCH_FRAMES = 600
_IDLE_DISCONNECT_S = 5.0
"""Disconnect from the daemon if no more frames were needed for this long."""
_SAME_POSITION_NS = NS // 2
"""An event this close before the position counts as the current one, not the previous one."""


def run_player(args: ReplayArgs) -> int:
    paths = resolve_paths()
    ensure_running(paths)
    now = SystemClock().now()
    since, until = parse_time_filter(args.at, now), parse_time_filter(args.until, now)
    if since is not None and until is not None and until < since:
        raise BadRequest("--until is before --at")
    frame_buffer = FrameBuffer(paths, args.pane, until)
    try:
        with RawTerminal() as terminal:
            _ReplayPlayer(terminal, frame_buffer, args.speed or 1.0).run(since)
    except KeyboardInterrupt:
        pass
    finally:
        frame_buffer.disconnect()
    return 0


class _ReplayPlayer:
    def __init__(self, terminal: RawTerminal, frame_buffer: FrameBuffer, speed: float):
        self._terminal, self._frame_buffer = terminal, frame_buffer
        self._playback, self._keys, self._clock = Playback(speed), KeyDecoder(PLAYER_KEYS), SystemClock()
        self._shown_view: FrameView | None = None
        self._size = 0, 0
        self._message = ""
        self._needed_at = 0.0

    def run(self, since: int | None) -> None:
        self._restart_at(since)
        before = self._clock.monotonic()
        while not self._terminal.is_closed:
            self._fetch()
            now = self._clock.monotonic()
            self._playback.advance(now - before)
            before = now
            self._paint()
            for key in self._keys.feed(self._wait_for_keys() or b""):
                if self._handle_key(key):
                    return

    def _restart_at(self, at: int | None) -> None:
        self._playback.restart_at(at)
        # There are no frames in the future.
        self._frame_buffer.seek(at if at is None else min(at, self._clock.now()))

    def _fetch(self) -> None:
        now = self._clock.monotonic()
        if self._playback.frames_ahead < _PREFETCH_FRAMES:
            self._needed_at = now
            self._playback.add_frames(self._frame_buffer.pull_frames())
            self._playback.has_all = self._frame_buffer.is_complete
        elif now - self._needed_at > _IDLE_DISCONNECT_S:
            self._frame_buffer.disconnect()
        if self._frame_buffer.is_complete and self._playback.last_at is None:
            raise BadRequest("this pane has no recording in that time span", hint="`visor gaps` may show why.")

    def _wait_for_keys(self) -> bytes | None:
        """Wait for a key, the next due frame, or more frames if they are needed."""
        delay = self._playback.compute_delay()
        extra_fd = self._frame_buffer.fileno() if self._playback.frames_ahead < _PREFETCH_FRAMES else None
        return self._terminal.wait_for_keys(1.0 if delay is None else min(delay, 1.0), extra_fd)

    def _paint(self) -> None:
        size = self._terminal.get_size()
        if size != self._size:
            self._size, self._shown_view = size, None
        view = build_view(self._playback, size, self._clock.now(), self._message)
        if view != self._shown_view:
            self._terminal.write(encode_changes(self._shown_view, view))
        self._shown_view = view

    def _handle_key(self, key: str) -> bool:
        """Handle a key press; return True if it quits the player."""
        self._message = ""
        command: PlayerCommand | SeekRequest | None = self._playback.handle_key(key)
        if command in ("next_event", "previous_event"):
            command = self._seek_event(is_next=command == "next_event")
        if isinstance(command, SeekRequest):
            self._restart_at(command.at)
        return command == "quit"

    def _seek_event(self, *, is_next: bool) -> SeekRequest | None:
        frame = self._playback.frame
        if frame is None:
            return None
        event = find_nearest_event(self._frame_buffer.list_events(frame.pane), self._playback.position, is_next=is_next)
        if event is None:
            self._message = f"no {'later' if is_next else 'earlier'} event"
            return None
        self._message = f"event: {event.kind}"
        return self._playback.seek_to(event.at)


def find_nearest_event(events: list[Event], position: int, *, is_next: bool) -> Event | None:
    """Return the event after or before a position. An event at the position itself is neither."""
    if is_next:
        return next((event for event in events if event.at > position + 1_000_000), None)
    return next((event for event in reversed(events) if event.at < position - _SAME_POSITION_NS), None)
