"""Trace which files of the product one user-visible flow passes, in a real daemon and in the client.

The recorder runs isolated from the environment (`python -I`) and cannot be traced; its own package counts as passed by
the flows that capture output.

`python -m tests.architecture.walks` prints the length of three walks, in files beyond those that an idle daemon passes;
`--files` lists them. Sending and answering type into a pane, whose output is captured: these files count for the first
walk only. The walk of a permission request is printed twice. The full figure has everything that runs between the
prompt and the answer. Much of that listens to every state change of an agent (state resolution, sessions, tokens,
monitors, notifications, workflows). The other figure leaves out the files that an ordinary turn of the same agent
passes: the prompt is typed, the agent works and completes, and requests nothing.
"""

import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from termvisor.testing.visor_instance import VisorInstance
from tests.architecture.source import ROOT, SOURCE
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.polling import wait_until
from tests.live.terminal_user import TerminalUser, open_terminal_user

TRACING = ROOT / "tests" / "architecture" / "tracing"
IDLE_S = 12.0
"""Long enough for one pass of every periodic task that an idle daemon runs within seconds."""
SETTLE_S = 0.3
"""For what follows the stored line (an older snapshot is deleted) and the answered request (keys are typed)."""


class TracedInstance:
    """A Termvisor whose processes record the files that they execute."""

    def __init__(self, visor: VisorInstance, folder: Path):
        self.visor, self.folder = visor, folder
        folder.mkdir(exist_ok=True)
        self._plain_env = visor.env
        self._traced_env = visor.env = {
            **visor.env,
            "PYTHONPATH": str(TRACING),
            "TRACE_FOLDER": str(folder),
            "TRACE_SOURCE": str(SOURCE / "termvisor"),
        }

    @contextmanager
    def trace(self) -> Iterator[list[str]]:
        """Collect the files that daemon and clients pass inside the block, in the order of their first call."""
        files: list[str] = []
        daemon = self.visor.daemon_pid
        os.kill(daemon, signal.SIGUSR2)
        for path in self.folder.iterdir():
            path.unlink()
        yield files
        os.kill(daemon, signal.SIGUSR1)
        self._await_file(self.folder / str(daemon))
        for path in sorted(self.folder.iterdir(), key=lambda one: one.name == str(daemon)):
            files += [name for name in path.read_text().split("\n") if name not in files]

    @contextmanager
    def without_client_trace(self) -> Iterator[VisorInstance]:
        """Run commands that only observe the flow: their client side is not recorded."""
        self.visor.env = self._plain_env
        try:
            yield self.visor
        finally:
            self.visor.env = self._traced_env

    def _await_file(self, path: Path) -> None:
        deadline = time.monotonic() + 10.0
        while not path.exists():
            assert time.monotonic() < deadline, f"{path} was not written"
            time.sleep(0.01)


def trace_flows(traced: TracedInstance, scene: WatchedTmux, user: TerminalUser) -> Iterator[tuple[str, list[str]]]:
    """Run the six flows of docs/architecture.md one after the other; yield each name with its files.

    The flow "turn" is an agent's turn without a permission request, the base of that flow.
    """
    visor = traced.visor
    # Beside the first output after a pause the daemon also lists panes and scans processes, by intervals of its own.
    # What all of several outputs and searches in quick succession pass is the way of the byte.
    captures, searches = [], []
    for word in ("albatross", "cormorant", "nightjar"):
        with traced.trace() as files:
            # A line is stored once it has scrolled off the screen. Builtins only: a process would cause a scan.
            scene.tmux.type_line(user.shell_pane, f"echo {word[:4]}''{word[4:]}; for i in {{1..200}}; do echo $i; done")
            wait_until(partial(_has_row, visor, "SELECT 1 FROM block WHERE text GLOB ?", f"*{word}*"))
            time.sleep(SETTLE_S)
        captures.append(files)
    for _ in captures:
        with traced.trace() as files:
            visor.call_robot("search", "albatross")
        searches.append(files)
    yield "capture", _intersect(captures)
    yield "search", _intersect(searches)
    # The first action builds the gate; the others show what every send passes.
    sends = []
    for _ in range(4):
        user.wait_for_prompt()
        with traced.trace() as files:
            user.type_command(f"visor send {user.pane_id} true")
            user.wait_for_text("delivered")
        sends.append(files)
    yield "send", _intersect(sends[1:])
    yield from _trace_agent(traced, scene, user)
    workflow = Path(visor.paths.config_dir, "workflows", "leave_note.yaml")
    workflow.parent.mkdir(exist_ok=True)
    workflow.write_text("name: leave_note\nmode: 'on'\nsteps: [{note: done}]\n")
    with traced.trace() as files:
        user.run_command(f"visor workflow run leave_note {user.pane_id}")
        wait_until(
            lambda: [
                run for run in visor.call_robot("workflow", "status", "--all")["items"] if run["status"] == "completed"
            ]
        )
    yield "workflow", files
    with traced.trace() as files:
        visor.allow_changes()
        visor.run_checked("db", "prune")
    yield "maintenance", files


def _trace_agent(traced: TracedInstance, scene: WatchedTmux, user: TerminalUser) -> Iterator[tuple[str, list[str]]]:
    """Trace later turns of a fake agent, so that starting and recognizing the agent is not part of the flows."""
    pane = scene.tmux.start_session("agent", f"exec {sys.executable} -P -m termvisor.frontends.demo.player claude")
    user.run_command(f"visor deny {_wait_for_request(traced.visor)}")
    wait_until(lambda: _has_reached(traced.visor, "idle"))
    with traced.trace() as files:
        scene.tmux.type_line(pane, "where is the cache?")
        wait_until(lambda: _has_reached(traced.visor, "completed"))
    yield "turn", files
    with traced.trace() as files, traced.without_client_trace() as visor:
        scene.tmux.type_line(pane, "rename Basket to Cart")
        user.type_command(f"visor approve {_wait_for_request(visor)}")
        wait_until(lambda: not visor.call_robot("inbox")["items"])
        time.sleep(SETTLE_S)
    yield "permission request", files


def _intersect(traces: list[list[str]]) -> list[str]:
    """Return the files that are in all traces."""
    return [name for name in traces[0] if all(name in other for other in traces)]


def _wait_for_request(visor: VisorInstance) -> int:
    (request,) = wait_until(lambda: visor.call_robot("inbox")["items"])
    return int(request["id"])


def _has_reached(visor: VisorInstance, state: str) -> bool:
    return _has_row(visor, "SELECT 1 FROM event WHERE kind = 'state_changed' AND data ->> '$.after' = ?", state)


def _has_row(visor: VisorInstance, query: str, *parameters: str) -> bool:
    """Look into the database itself: an operation that observes a flow would be traced as a part of it."""
    with closing(sqlite3.connect(f"file:{visor.paths.database}?mode=ro", uri=True)) as connection:
        return connection.execute(query, parameters).fetchone() is not None


def main() -> None:
    """Print how many files each walk passes."""
    with run_watched_tmux() as scene, tempfile.TemporaryDirectory() as folder:
        traced = TracedInstance(scene.visor, Path(folder))
        with open_terminal_user(scene) as user:
            time.sleep(IDLE_S)  # what the start of daemon and shell has left to do is not idle
            with traced.trace() as idle:
                time.sleep(IDLE_S)
            passed = {name: {*files} - {*idle} for name, files in trace_flows(traced, scene, user)}
    capture, request = passed["capture"], passed["permission request"] - passed["capture"]
    walks = {
        "a byte to search": capture | passed["search"],
        "a send": passed["send"] - capture,
        "a permission request": request,
        "  beyond a turn": request - passed["turn"],
    }
    for name, files in walks.items():
        print(f"{name:<24}{len(files):>4} files")
        if "--files" in sys.argv:
            print("   ", *sorted(files))


if __name__ == "__main__":
    main()
