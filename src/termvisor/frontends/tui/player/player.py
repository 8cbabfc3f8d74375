"""`visor replay` on a terminal: a player. Fetch, advance, paint, wait for a key, the next frame or more of the film."""

from termvisor.client.daemon_process import ensure_running
from termvisor.clock import NS, SystemClock
from termvisor.errors import BadRequest
from termvisor.frontends.tui.keys import Keys
from termvisor.frontends.tui.player.frame_buffer import Reel
from termvisor.frontends.tui.player.frame_view import View, paint, view
from termvisor.frontends.tui.player.playback import KEYS, Playback, Seek, Wish
from termvisor.frontends.tui.raw_terminal import Terminal
from termvisor.model.event import Event
from termvisor.ops.history.replay import Replay
from termvisor.ops.panes._listing import moment
from termvisor.settings import places

_AHEAD = 600
"""So many frames are fetched before they are needed."""
_REST_AFTER = 5.0
"""Seconds without need of more frames after which the daemon is let go."""
_SAME_PLACE = NS // 2


def run(wanted: Replay) -> int:
    where = places()
    ensure_running(where)
    now = SystemClock().now()
    since, until = moment(wanted.at, now), moment(wanted.until, now)
    if since is not None and until is not None and until < since:
        raise BadRequest("--until lies before --at")
    reel = Reel(where, wanted.pane, until)
    try:
        with Terminal() as terminal:
            _Player(terminal, reel, wanted.speed or 1.0).run(since)
    except KeyboardInterrupt:
        pass
    finally:
        reel.rest()
    return 0


class _Player:
    def __init__(self, terminal: Terminal, reel: Reel, speed: float):
        self._terminal, self._reel = terminal, reel
        self._playback, self._keys, self._clock = Playback(speed), Keys(KEYS), SystemClock()
        self._shown: View | None = None
        self._size = 0, 0
        self._told = ""
        self._needed_at = 0.0

    def run(self, since: int | None) -> None:
        self._go(since)
        before = self._clock.monotonic()
        while not self._terminal.is_over:
            self._fetch()
            now = self._clock.monotonic()
            self._playback.advance(now - before)
            before = now
            self._paint()
            for key in self._keys.feed(self._wait() or b""):
                if self._pressed(key):
                    return

    def _go(self, at: int | None) -> None:
        self._playback.begin_at(at)
        self._reel.fetch_from(at if at is None else min(at, self._clock.now()))

    def _fetch(self) -> None:
        now = self._clock.monotonic()
        if self._playback.ahead < _AHEAD:
            self._needed_at = now
            self._playback.add(self._reel.pull())
            self._playback.has_all = self._reel.is_over
        elif now - self._needed_at > _REST_AFTER:
            self._reel.rest()
        if self._reel.is_over and self._playback.last_at is None:
            raise BadRequest("nothing of this pane was recorded in that time", hint="`visor gaps` may say why.")

    def _wait(self) -> bytes | None:
        """Until a frame is due, a key is pressed, or more of the film has come where more is wanted."""
        due = self._playback.due_in()
        more = self._reel.fileno() if self._playback.ahead < _AHEAD else None
        return self._terminal.wait(1.0 if due is None else min(due, 1.0), more)

    def _paint(self) -> None:
        size = self._terminal.size()
        if size != self._size:
            self._size, self._shown = size, None
        after = view(self._playback, size, self._clock.now(), self._told)
        if after != self._shown:
            self._terminal.show(paint(self._shown, after))
        self._shown = after

    def _pressed(self, key: str) -> bool:
        """Whether the reader leaves."""
        self._told = ""
        wish: Wish | Seek | None = self._playback.press(key)
        if wish in ("next_event", "previous_event"):
            wish = self._to_event(is_next=wish == "next_event")
        if isinstance(wish, Seek):
            self._go(wish.at)
        return wish == "quit"

    def _to_event(self, *, is_next: bool) -> Seek | None:
        frame = self._playback.frame
        if frame is None:
            return None
        event = nearest(self._reel.events(frame.pane), self._playback.position, is_next=is_next)
        if event is None:
            self._told = f"no {'later' if is_next else 'earlier'} event"
            return None
        self._told = f"event: {event.kind}"
        return self._playback.seek(event.at)


def nearest(events: list[Event], position: int, *, is_next: bool) -> Event | None:
    """The event to go to from here; the one we stand at is neither the next nor the previous."""
    if is_next:
        return next((event for event in events if event.at > position + 1_000_000), None)
    return next((event for event in reversed(events) if event.at < position - _SAME_PLACE), None)
