"""Polling of the host's descriptors: connections for input, full terminals for room."""

from __future__ import annotations

from termvisor.recorder.sockets import Poller

_POLL_WRITE = 4


class HostPoller(Poller):
    def add_writer(self, fd: int) -> None:
        """Watch a descriptor for room only: the recorder, not this process, reads the terminal."""
        self._poll.register(fd, _POLL_WRITE)
