"""Wait for many descriptors with epoll, or with poll on macOS (untested)."""

import select
import sys

_POLL_READ, _POLL_WRITE = 1, 4
"""POLLIN and POLLOUT, the same numbers for epoll and poll."""


class Poller:
    def __init__(self) -> None:
        if sys.platform == "linux":
            self._poll = select.epoll()
        else:
            self._poll = select.poll()

    def add(self, fd: int) -> None:
        """Watch a descriptor for input. Raises OSError if it cannot be polled, such as a regular file."""
        self._poll.register(fd, _POLL_READ)

    def set_write_interest(self, fd: int, is_wanted: bool) -> None:
        self._poll.modify(fd, _POLL_READ | _POLL_WRITE if is_wanted else _POLL_READ)

    def remove(self, fd: int) -> None:
        """Stop watching; call before closing, or a descriptor open elsewhere too would be reported for ever."""
        self._poll.unregister(fd)

    def wait(self, seconds: float | None) -> list[int]:
        """Return the ready descriptors; ``seconds`` None waits without limit."""
        unit = 1 if sys.platform == "linux" else 1000
        return [fd for fd, _ in self._poll.poll(None if seconds is None else seconds * unit)]
