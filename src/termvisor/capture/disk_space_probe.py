"""Whether the raw log can be written again after it could not be: found out by trying, now and then.

As long as it cannot, no pane is listened to anew: each try would end at once and leave one more gap.
"""

import contextlib
import os

ENOUGH = 1 << 20
"""So much must be writable before listening begins again."""
_SHORTEST, _LONGEST = 1.0, 60.0


class Room:
    """``why`` is what the last try said; empty while there is room. ``now`` is of the monotonic clock."""

    def __init__(self, folder: str):
        self._folder = folder
        self._wait = _SHORTEST
        self._next = self._found_at = 0.0
        self.why = ""

    def lost(self, now: float) -> None:
        """Something could not be written. Where our own try had said that it can, the next one comes later."""
        if not self.why:
            was_wrong = now - self._found_at < _LONGEST
            self._wait = min(2 * self._wait, _LONGEST) if was_wrong and self._found_at else _SHORTEST
            self._next = now + self._wait
        self.why = self.why or "it could not be written"

    def is_there(self, now: float) -> bool:
        if self.why and now >= self._next:
            self._next = now + self._wait
            self.why = _tried(f"{self._folder}.room")
            self._found_at = now
        return not self.why


def _tried(path: str) -> str:
    """Why so many bytes cannot be written there; empty when they can."""
    try:
        with open(path, "wb", buffering=0) as file:
            left = ENOUGH
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 16)))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return ""
