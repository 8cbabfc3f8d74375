"""The blocking client: a plain socket, no event loop, no thread."""

from collections.abc import Callable, Iterator
from typing import Any

from termvisor.client.connection import Line, connected
from termvisor.client.daemon_process import ensure_running
from termvisor.settings import Places
from termvisor.settings import places as own_places


class Visor:
    """Operations as methods: ``visor.list_panes(session="work")``. A stream is an iterator on its own connection."""

    def __init__(self, places: Places | None = None, *, start: bool = True):
        self._places = places or own_places()
        if start:
            ensure_running(self._places)
        self._line = Line(connected(self._places.daemon_socket))

    def __enter__(self) -> "Visor":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._line.close()

    @property
    def daemon_pid(self) -> int:
        return self._line.hello.pid

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda **params: self._run(name, params)

    def _run(self, name: str, params: dict[str, Any]) -> Any:
        is_stream = name in self._line.hello.streams or params.get("follow") is True
        return self._stream(name, params) if is_stream else self._line.call(name, params)

    def _stream(self, name: str, params: dict[str, Any]) -> Iterator[Any]:
        line = Line(connected(self._places.daemon_socket))
        try:
            yield from line.items(name, params)
        finally:
            line.close()
