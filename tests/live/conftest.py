"""Fixtures: a real tmux on a private socket and a complete Termvisor instance; both are always stopped."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.pattern_cache import install_pattern_cache


class WatchedTmux:
    """A tmux server that a Termvisor instance captures, with helpers for both."""

    def __init__(self, tmux: PrivateTmux, visor: VisorInstance):
        self.tmux, self.visor = tmux, visor

    def list_panes(self) -> list[dict]:
        return [item for item in call_robot(self.visor, "state")["items"] if item["server"] == self.tmux.socket]

    def find_pane_id(self, mux_id: str) -> int | None:
        return next(
            (item["identity"]["id"] for item in self.list_panes() if item["identity"]["pane_id"] == mux_id), None
        )

    def wait_until_captured(self, mux_id: str, capture_method: str = "pipe") -> int:
        """Wait until a pane is captured by this method and return its pane number."""
        return wait_until(
            lambda: next(
                (
                    item["identity"]["id"]
                    for item in self.list_panes()
                    if item["identity"]["pane_id"] == mux_id and item["heard_by"] == capture_method
                ),
                None,
            )
        )

    def print_word(self, mux_id: str, word: str) -> None:
        """Let a shell print a word and wait until it is stored."""
        pane_id = wait_until(lambda: self.find_pane_id(mux_id))
        self.tmux.type_line(mux_id, f"echo {word[:3]}''{word[3:]}")
        self.visor.call_robot("wait-for", str(pane_id), f"^{word}$", "--regex", "--timeout-secs", "20")

    def read_lines(self, mux_id: str) -> list[str]:
        return call_robot(self.visor, "get-text", str(self.find_pane_id(mux_id)), "--tail", "500")["text"].split("\n")

    def list_gap_causes(self) -> list[str]:
        return [gap["cause"] for gap in call_robot(self.visor, "list-gaps", "--tails")["items"]]

    def list_event_kinds(self) -> list[str]:
        return [event["kind"] for event in call_robot(self.visor, "events", "--limit", "200")["items"]]

    def list_event_data(self, pane_id: int, kind: str) -> list[dict]:
        """Return the data of one pane's events of this kind."""
        found = call_robot(self.visor, "events", "--pane", str(pane_id), "--limit", "200")["items"]
        return [event["data"] for event in found if event["kind"] == kind]

    def list_pane_gap_causes(self, pane_id: int) -> list[str]:
        return [gap["cause"] for gap in call_robot(self.visor, "list-gaps", "--tails", "--pane", str(pane_id))["items"]]


@contextmanager
def run_compiled_instance(folder: str, *sockets: str) -> Iterator[VisorInstance]:
    """Run a Termvisor instance with precompiled patterns."""
    with run_instance(folder, *sockets) as visor:
        install_pattern_cache(visor.paths)
        yield visor


@contextmanager
def run_watched_tmux() -> Iterator[WatchedTmux]:
    """Run a captured tmux server that several tests share; each test uses its own session."""
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_compiled_instance(folder, tmux.socket) as visor,
    ):
        yield WatchedTmux(tmux, visor)


@pytest.fixture
def folder():
    with make_short_folder() as path:
        yield path


@pytest.fixture
def tmux(folder):
    with run_private_tmux(folder) as server:
        yield server


@pytest.fixture
def visor(folder, tmux):
    with run_compiled_instance(folder, tmux.socket) as instance:
        yield instance


@pytest.fixture
def scene(tmux, visor):
    return WatchedTmux(tmux, visor)


@pytest.fixture
def shell(scene):
    """Start a captured shell and return tmux's pane id."""
    mux_id = scene.tmux.start_session(command="sh")
    scene.wait_until_captured(mux_id)
    return mux_id


def pytest_terminal_summary(terminalreporter):
    """Print what tests recorded as figures; the output of test processes is not shown."""
    reports = (report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, ()))
    for name, value in (pair for report in reports for pair in report.user_properties):
        terminalreporter.write_line(f"{name}: {value}")
