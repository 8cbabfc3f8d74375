"""Whether the raw log can be written again after it could not be: found out by trying, now and then.

As long as it cannot, no pane is listened to anew: each try would end at once and leave one more gap.
"""

import contextlib
import os

PROBE_BYTES = 1 << 20
"""So much must be writable before listening begins again."""
_MIN_RETRY_DELAY_S, _MAX_RETRY_DELAY_S = 1.0, 60.0


class DiskSpaceProbe:
    """``why`` is what the last try said; empty while there is room. ``now`` is of the monotonic clock."""

    def __init__(self, folder: str):
        self._folder = folder
        self._retry_delay = _MIN_RETRY_DELAY_S
        self._next_try_at = self._last_success_at = 0.0
        self.write_error = ""

    def report_write_failure(self, now: float) -> None:
        """Something could not be written. Where our own try had said that it can, the next one comes later."""
        if not self.write_error:
            was_wrong = now - self._last_success_at < _MAX_RETRY_DELAY_S
            self._retry_delay = (
                min(2 * self._retry_delay, _MAX_RETRY_DELAY_S)
                if was_wrong and self._last_success_at
                else _MIN_RETRY_DELAY_S
            )
            self._next_try_at = now + self._retry_delay
        self.write_error = self.write_error or "it could not be written"

    def has_space(self, now: float) -> bool:
        if self.write_error and now >= self._next_try_at:
            self._next_try_at = now + self._retry_delay
            self.write_error = _try_write(f"{self._folder}.room")
            self._last_success_at = now
        return not self.write_error


def _try_write(path: str) -> str:
    """Why so many bytes cannot be written there; empty when they can."""
    try:
        with open(path, "wb", buffering=0) as file:
            left = PROBE_BYTES
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 16)))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return ""
