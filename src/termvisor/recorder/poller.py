"""Waiting for many descriptors at once: epoll, and on macOS poll in its place (untested)."""

import select

_READ, _WRITE = 1, 4
"""POLLIN and POLLOUT, the same numbers for epoll and poll."""


class Poller:
    def __init__(self) -> None:
        self._is_epoll = hasattr(select, "epoll")
        self._poll = select.epoll() if self._is_epoll else select.poll()

    def add(self, fd: int) -> None:
        """Raises OSError for a descriptor that cannot be waited for, such as a plain file."""
        self._poll.register(fd, _READ)

    def want_writable(self, fd: int, is_wanted: bool) -> None:
        self._poll.modify(fd, _READ | _WRITE if is_wanted else _READ)

    def remove(self, fd: int) -> None:
        """Always before closing: a descriptor that is open elsewhere too would be reported for ever."""
        self._poll.unregister(fd)

    def wait(self, seconds: float | None) -> list[int]:
        """The descriptors on which something can be done."""
        if self._is_epoll:
            return [fd for fd, _ in self._poll.poll(seconds)]
        return [fd for fd, _ in self._poll.poll(None if seconds is None else seconds * 1000)]
