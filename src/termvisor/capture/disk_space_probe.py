"""Probe with test writes whether the raw log can be written again after a write failed.

No capture is started meanwhile: each attempt would fail at once and leave one more gap.
"""

import contextlib
import os

PROBE_BYTES = 1 << 20
"""Size of the test write; captures start again once it succeeds."""
_MIN_RETRY_DELAY_S, _MAX_RETRY_DELAY_S = 1.0, 60.0


class DiskSpaceProbe:
    """``write_error`` is the reason of the last failed write, empty while writing works.

    ``now`` is always a time of the monotonic clock.
    """

    def __init__(self, folder: str):
        self._folder = folder
        self._retry_delay = _MIN_RETRY_DELAY_S
        self._next_try_at = self._last_success_at = 0.0
        self.write_error = ""

    def report_write_failure(self, now: float) -> None:
        """Note that a write failed; double the retry delay if a recent test write had succeeded."""
        if not self.write_error:
            was_probe_wrong = now - self._last_success_at < _MAX_RETRY_DELAY_S
            self._retry_delay = (
                min(2 * self._retry_delay, _MAX_RETRY_DELAY_S)
                if was_probe_wrong and self._last_success_at
                else _MIN_RETRY_DELAY_S
            )
            self._next_try_at = now + self._retry_delay
        self.write_error = self.write_error or "a write failed"

    def has_space(self, now: float) -> bool:
        if self.write_error and now >= self._next_try_at:
            self._next_try_at = now + self._retry_delay
            self.write_error = _try_write(f"{self._folder}.room")
            self._last_success_at = now
        return not self.write_error


def _try_write(path: str) -> str:
    """Write PROBE_BYTES to a temporary file and return the error text, empty on success."""
    try:
        with open(path, "wb", buffering=0) as file:
            left = PROBE_BYTES
            while left > 0:
                left -= file.write(bytes(min(left, 1 << 16)))
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with contextlib.suppress(OSError):  # the file was never created
            os.unlink(path)
    return ""
