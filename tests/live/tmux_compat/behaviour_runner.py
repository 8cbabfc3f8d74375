"""Run rows of the table on two fresh servers each, one of which a daemon watches, and compare the outcomes."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.tmux_compat.pane_operations import allow_all_operations
from tests.live.tmux_compat.scripted_server import TIMED_OUT, ScriptedServer
from tests.live.tmux_compat.server_scripts import ServerScript
from tests.pattern_cache import install_pattern_cache

BATCH_SIZE = 40
"""Rows whose servers run at once: the daemon discovers them together, and the machine still has memory."""
THREADS = 4
"""Rows that run at once; they mostly wait for tmux."""


class Comparison(NamedTuple):
    """The outcomes of one row, line by line."""

    alone: list[str]
    watched: list[str]

    @property
    def is_equal(self) -> bool:
        return self.alone == self.watched

    @property
    def timed_out(self) -> list[str]:
        """Return the outcomes of lines that timed out without Termvisor: such a row proves nothing."""
        return [outcome for outcome in self.alone if TIMED_OUT in outcome]


class ServerPair(NamedTuple):
    """Two servers with the same setup."""

    alone: ScriptedServer
    watched: ScriptedServer
    pane_count: int


@contextmanager
def run_discovering_instance(folder: str, **settings: str) -> Iterator[VisorInstance]:
    """Run a daemon that watches every server whose socket appears in the folder's `tmux-<uid>`."""
    visor = VisorInstance(folder, [], **settings)
    visor.env = {**{k: v for k, v in visor.env.items() if k != "VISOR_TMUX_SOCKETS"}, "TMUX_TMPDIR": folder}
    install_pattern_cache(visor.paths)
    allow_all_operations(visor)
    try:
        visor.start()
        yield visor
    finally:
        visor.stop()


def get_socket_folder(folder: str) -> str:
    return f"{folder}/tmux-{os.getuid()}"


def count_captured_panes(visor: VisorInstance) -> dict[str, int]:
    """Return the number of captured panes of each server."""
    counts: dict[str, int] = {}
    for item in call_robot(visor, "state")["items"]:
        counts[item["server"]] = counts.get(item["server"], 0) + (item["heard_by"] != "none")
    return counts


def compare_behaviours(rows: Sequence[ServerScript], tmux: str = "tmux", **settings: str) -> dict[str, Comparison]:
    """Run all rows; run those that failed once more.

    A busy machine may delay what a row waits for, and tmux 3.3a sometimes crashes by itself when it destroys a session
    whose last client leaves.
    """
    with make_short_folder() as folder, run_discovering_instance(folder, **settings) as visor:
        found = _run_rows(rows, folder, visor, tmux)
        again = [row for row in rows if not found[row.name].is_equal or found[row.name].timed_out]
        return {**found, **_run_rows(again, folder, visor, tmux)}


def _run_rows(rows: Sequence[ServerScript], folder: str, visor: VisorInstance, tmux: str) -> dict[str, Comparison]:
    groups: dict[object, list[ServerScript]] = {}
    for row in rows:
        groups.setdefault(row.setup if row.only_reads else row.name, []).append(row)
    shared = list(groups.values())
    found: dict[str, Comparison] = {}
    for start in range(0, len(shared), BATCH_SIZE):
        found |= _run_batch(shared[start : start + BATCH_SIZE], folder, visor, tmux)
    return found


def _run_batch(
    groups: Sequence[list[ServerScript]], folder: str, visor: VisorInstance, tmux: str
) -> dict[str, Comparison]:
    """Run each group of rows on a pair of servers."""
    with ExitStack() as stack, ThreadPoolExecutor(THREADS) as pool:
        pairs = list(pool.map(lambda group: _start_pair(group[0], folder, tmux), groups))
        for pair in pairs:
            stack.callback(pair.alone.close)
            stack.callback(pair.watched.close)
        wait_until(lambda: _are_captured(visor, pairs))
        found: dict[str, Comparison] = {}
        for comparisons in pool.map(_run_group, groups, pairs):
            found |= comparisons
        return found


def _start_pair(row: ServerScript, folder: str, tmux: str) -> ServerPair:
    unique = os.urandom(4).hex()
    alone = ScriptedServer(f"{folder}/a{unique}", f"{folder}/a{unique}/s", tmux)
    watched = ScriptedServer(f"{folder}/w{unique}", f"{get_socket_folder(folder)}/{unique}", tmux)
    for server in (alone, watched):
        server.prepare(row.setup)
    panes = alone.run_line("list-panes -a").splitlines()
    return ServerPair(alone, watched, len(panes))


def _are_captured(visor: VisorInstance, pairs: list[ServerPair]) -> bool:
    counts = count_captured_panes(visor)
    return all(counts.get(pair.watched.socket, 0) == pair.pane_count for pair in pairs)


def _run_group(rows: list[ServerScript], pair: ServerPair) -> dict[str, Comparison]:
    return {row.name: Comparison(pair.alone.run_lines(row.lines), pair.watched.run_lines(row.lines)) for row in rows}
