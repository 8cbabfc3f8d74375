"""Trace which files of the product one user-visible flow passes, in a real daemon and in the client.

The recorder runs isolated from the environment (`python -I`) and cannot be traced; its own package counts as passed by
the flows that capture output.

`python -m tests.architecture.walks` prints the length of three walks; `--files` lists their files. How it counts:

- A file is passed if one of its functions is called, in the daemon or in a client of the flow. Imports do not count.
- Every flow runs REPEATS times, those of an agent half as often. After each run, the idle daemon in the same state is
  traced for as long as the run took, at least MIN_IDLE_S.
- A file counts if *every* run passes it, so that work with intervals of its own drops out (panes are listed, processes
  scanned), and if less than three quarters of the idle traces pass it, so that what runs all the time drops out (the
  server loop, samplers, the clock). What an idle daemon does only now and then counts if the flow does it every time.
- A byte is printed by a program that runs already, and found by `visor search`.
- Sending and answering type into a pane, whose output is captured. What a command in a shell passes until its output is
  stored (the flow "capture") is left out there.
- The walk of a permission request is printed twice. The full figure has everything that runs between the prompt and the
  answer. Much of that listens to every state change of an agent (state resolution, sessions, tokens, monitors,
  notifications, workflows). The other figure leaves out the files that any ordinary turn of the same agent passes: the
  prompt is typed, the agent works and completes, and requests nothing.
"""

import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from termvisor.testing.visor_instance import VisorInstance
from tests.architecture.source import ROOT, SOURCE
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.polling import wait_until
from tests.live.terminal_user import TerminalUser, open_terminal_user

TRACING = ROOT / "tests" / "architecture" / "tracing"
START_S = 12.0
"""What the start of daemon and shell has left to do is not idle: wait until each periodic task ran once."""
REPEATS = 8
MIN_IDLE_S = 2.0
"""Some files are passed once a second: a shorter trace would meet them only sometimes."""
FREQUENT = 0.75
"""The share of idle traces from which on a file is background work: what runs all the time passes nearly all of them,
what has an interval of some seconds at most a third."""
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


class FlowTracer:
    """Runs a flow several times and keeps the files that belong to it."""

    def __init__(self, traced: TracedInstance, repeats: int, *, subtracts_idle: bool):
        self.traced, self.repeats, self._subtracts_idle = traced, repeats, subtracts_idle

    def trace(
        self, run: Callable[[int], object], *, settle: Callable[[], object] = lambda: None, is_long: bool = False
    ) -> list[str]:
        """Return the files that all runs pass, in the order of their first call, without those of an idle daemon.

        ``settle`` waits, without a trace, until the daemon is idle again.
        """
        runs, idle = [], []
        for number in range(self.repeats // 2 if is_long else self.repeats):
            began = time.monotonic()
            with self.traced.trace() as files:
                run(number)
            runs.append(files)
            seconds = time.monotonic() - began
            settle()
            if self._subtracts_idle:
                idle.append(self._trace_idle(max(seconds, MIN_IDLE_S)))
        passed = [name for name in runs[0] if all(name in other for other in runs)]
        return [name for name in passed if sum(name in files for files in idle) < FREQUENT * (len(idle) or 1)]

    def _trace_idle(self, seconds: float) -> list[str]:
        with self.traced.trace() as files:
            time.sleep(seconds)
        return files


def trace_flows(flows: FlowTracer, scene: WatchedTmux, user: TerminalUser) -> Iterator[tuple[str, list[str]]]:
    """Run the six flows of docs/architecture.md one after the other; yield each name with its files.

    Two more are compared with them: "byte" is the output of a program that runs already, and "turn" is an agent's turn
    without a permission request.
    """
    visor = flows.traced.visor
    yield "byte", _trace_byte(flows, scene)

    def print_line(number: int) -> None:
        # A line is stored once it has scrolled off the screen. Builtins only: a process would cause a scan.
        word = f"albatross{number}"
        scene.tmux.type_line(user.shell_pane, f"echo {word[:4]}''{word[4:]}; for i in {{1..200}}; do echo $i; done")
        _wait_until_stored(visor, word)

    yield "capture", flows.trace(print_line)
    yield "search", flows.trace(lambda _: visor.call_robot("search", "albatross0"))

    def send_command(_: int) -> None:
        user.type_command(f"visor send {user.pane_id} true")
        user.wait_for_text("delivered")

    # The first action builds the gate; the others show what every send passes.
    user.wait_for_prompt()
    send_command(0)
    user.wait_for_prompt()
    yield "send", flows.trace(send_command, settle=user.wait_for_prompt)
    yield from _trace_agent(flows, scene, user)
    workflow = Path(visor.paths.config_dir, "workflows", "leave_note.yaml")
    workflow.parent.mkdir(exist_ok=True)
    workflow.write_text("name: leave_note\nmode: 'on'\nsteps: [{note: done}]\n")
    with flows.traced.trace() as files:
        user.run_command(f"visor workflow run leave_note {user.pane_id}")
        wait_until(
            lambda: [
                run for run in visor.call_robot("workflow", "status", "--all")["items"] if run["status"] == "completed"
            ]
        )
    yield "workflow", files
    with flows.traced.trace() as files:
        visor.allow_changes()
        visor.run_checked("db", "prune")
    yield "maintenance", files


def _trace_byte(flows: FlowTracer, scene: WatchedTmux) -> list[str]:
    """Trace a line that a running program prints."""
    source = flows.traced.folder.parent / "printed"
    source.touch()
    pane = scene.tmux.start_session("printing", f"exec tail -f {source}")
    scene.wait_until_captured(pane)

    def print_line(number: int) -> None:
        with source.open("a") as file:
            file.write("\n".join([f"cormorant{number}", *map(str, range(200)), ""]))
        _wait_until_stored(flows.traced.visor, f"cormorant{number}")

    print_line(-1)
    return flows.trace(print_line)


def _trace_agent(flows: FlowTracer, scene: WatchedTmux, user: TerminalUser) -> Iterator[tuple[str, list[str]]]:
    """Trace later turns of a fake agent, so that starting and recognizing the agent is not part of the flows."""
    traced = flows.traced
    pane = scene.tmux.start_session("agent", f"exec {sys.executable} -P -m termvisor.frontends.demo.player claude")
    user.run_command(f"visor deny {_wait_for_request(traced.visor)}")
    wait_until(lambda: _has_reached(traced.visor, "idle"))

    def await_end() -> None:
        wait_until(lambda: _has_reached(traced.visor, "completed"))

    def complete_turn(_: int) -> None:
        before = _find_last_event(traced.visor)
        scene.tmux.type_line(pane, "where is the cache?")
        wait_until(lambda: _has_reached(traced.visor, "completed", after=before))

    def answer_request(_: int) -> None:
        with traced.without_client_trace() as visor:
            scene.tmux.type_line(pane, "rename Basket to Cart")
            user.type_command(f"visor approve {_wait_for_request(visor)}")
            wait_until(lambda: not visor.call_robot("inbox")["items"])
            time.sleep(SETTLE_S)

    turns = FlowTracer(traced, flows.repeats, subtracts_idle=False)
    yield "turn", turns.trace(complete_turn, is_long=True)
    yield "permission request", flows.trace(answer_request, settle=await_end, is_long=True)


def _wait_until_stored(visor: VisorInstance, word: str) -> None:
    wait_until(lambda: _has_row(visor, "SELECT 1 FROM block WHERE text GLOB ?", f"*{word}*"))
    time.sleep(SETTLE_S)


def _wait_for_request(visor: VisorInstance) -> int:
    (request,) = wait_until(lambda: visor.call_robot("inbox")["items"])
    return int(request["id"])


def _has_reached(visor: VisorInstance, state: str, after: int = 0) -> bool:
    """Return True if the latest change of an agent's state was to this one, in an event after this one."""
    latest = "SELECT id, data FROM event WHERE kind = 'state_changed' ORDER BY id DESC LIMIT 1"
    return _has_row(visor, f"SELECT 1 FROM ({latest}) WHERE id > ? AND data ->> '$.after' = ?", after, state)


def _find_last_event(visor: VisorInstance) -> int:
    (number,) = _find_row(visor, "SELECT max(id) FROM event") or (0,)
    return int(number)


def _has_row(visor: VisorInstance, query: str, *parameters: str | int) -> bool:
    return _find_row(visor, query, *parameters) is not None


def _find_row(visor: VisorInstance, query: str, *parameters: str | int) -> tuple | None:
    """Look into the database itself: an operation that observes a flow would be traced as a part of it."""
    with closing(sqlite3.connect(f"file:{visor.paths.database}?mode=ro", uri=True)) as connection:
        return connection.execute(query, parameters).fetchone()


def main() -> None:
    """Print how many files each walk passes."""
    with run_watched_tmux() as scene, tempfile.TemporaryDirectory() as folder:
        flows = FlowTracer(TracedInstance(scene.visor, Path(folder, "traces")), REPEATS, subtracts_idle=True)
        with open_terminal_user(scene) as user:
            time.sleep(START_S)
            passed = {name: {*files} for name, files in trace_flows(flows, scene, user)}
    request = passed["permission request"] - passed["capture"]
    walks = {
        "a byte to search": passed["byte"] | passed["search"],
        "a send": passed["send"] - passed["capture"],
        "a permission request": request,
        "  beyond a turn": request - passed["turn"],
    }
    for name, files in walks.items():
        print(f"{name:<24}{len(files):>4} files")
        if "--files" in sys.argv:
            print("   ", *sorted(files))


if __name__ == "__main__":
    main()
