"""The blocking client: a plain socket without event loop or threads."""

from collections.abc import Callable, Iterator
from typing import Any

from termvisor.client.connection import BlockingConnection, connect_to_daemon
from termvisor.client.daemon_process import ensure_running
from termvisor.settings import Paths, resolve_paths


class Visor:
    """Operations as methods: ``visor.list_panes(session="work")``. A stream is an iterator on its own connection."""

    def __init__(self, places: Paths | None = None, *, start: bool = True):
        self._paths = places or resolve_paths()
        if start:
            ensure_running(self._paths)
        self._connection = BlockingConnection(connect_to_daemon(self._paths.daemon_socket))

    def __enter__(self) -> "Visor":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    @property
    def daemon_pid(self) -> int:
        return self._connection.hello.pid

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda **params: self._call(name, params)

    def _call(self, name: str, params: dict[str, Any]) -> Any:
        is_stream = name in self._connection.hello.streams or params.get("follow") is True
        return self._stream(name, params) if is_stream else self._connection.call(name, params)

    def _stream(self, name: str, params: dict[str, Any]) -> Iterator[Any]:
        connection = BlockingConnection(connect_to_daemon(self._paths.daemon_socket))
        try:
            yield from connection.stream_items(name, params)
        finally:
            connection.close()
