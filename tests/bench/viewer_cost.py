"""Measure what viewers of 200 panes cost the daemon: none, one, and ten of them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from termvisor.client.connection import connect_if_running
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure
from tests.bench.pane_cost import are_all_captured, measure_cpu
from tests.bench.pane_writer import open_panes
from tests.live.polling import wait_until

PANES = 200


@contextlib.contextmanager
def open_viewers(socket: str, count: int) -> Iterator[None]:
    """Run viewers of all panes in threads until the end of the block."""
    connections = [connect_if_running(socket, "tui") for _ in range(count)]

    def read_all(number: int) -> None:
        with contextlib.suppress(Exception):  # the connection is closed under it
            for _ in connections[number].stream_items("watch_panes", {}):
                pass

    threads = [threading.Thread(target=read_all, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    try:
        yield
    finally:
        for connection in connections:
            connection._socket.shutdown(2)
            connection.close()


def measure_viewers(seconds: float = 20.0) -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        open_panes(tmux, folder, PANES, "exec sleep 1000")
        with run_instance(folder, tmux.socket) as visor:
            wait_until(lambda: are_all_captured(visor, PANES), timeout_s=60)
            time.sleep(5)
            (alone,) = measure_cpu([visor.daemon_pid], seconds)
            with open_viewers(visor.paths.daemon_socket, 1):
                (one,) = measure_cpu([visor.daemon_pid], seconds)
            with open_viewers(visor.paths.daemon_socket, 10):
                (ten,) = measure_cpu([visor.daemon_pid], seconds)
    print(f"  daemon {alone:.2f} % alone, {one:.2f} % with one viewer, {ten:.2f} % with ten")
    return [
        BudgetedFigure("daemon CPU for a viewer of 200 panes", max(0.0, one - alone), 1.5, "% of a core", "no viewer"),
        BudgetedFigure("daemon CPU for ten viewers", max(0.0, ten - alone), 3.0, "% of a core", "no viewer"),
    ]
