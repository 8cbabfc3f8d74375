"""Run scenarios in panes that a daemon watches, and read what it stored."""

import os
import time
from functools import partial
from pathlib import Path

from tests.live.conftest import WatchedTmux
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.text_differential.pane_driver import PaneDriver, PaneRun, describe_stuck, is_overdue
from tests.live.text_differential.scenario import ScenarioRun
from tests.recordings.terminal_recording import Recording, normalize

_SETTLE_S = 2.0
"""Seconds without a change after which the text of a pane is what is stored."""


class StoredPanes:
    """Panes whose programs wait until the daemon captures all of them."""

    def __init__(self, scene: WatchedTmux, driver: PaneDriver, folder: Path):
        self._scene, self._driver, self._folder = scene, driver, folder
        self._numbers: dict[str, int] = {}
        """Our pane numbers by run."""

    def record_runs(self, runs: list[ScenarioRun]) -> list[tuple[ScenarioRun, Recording]]:
        """Run programs to their end; the bytes are those of the daemon's raw log."""
        gate = self._folder / "gate"
        os.mkfifo(gate)
        self._driver.start(runs, pipe=False, wait=f": <{gate}")
        self._numbers = wait_until(lambda: self._find_numbers({run.name for run in runs}))
        released = os.open(gate, os.O_RDWR)
        panes = [PaneRun(run, partial(self._measure, run.name)) for run in runs]
        self._drive(panes)
        os.close(released)
        texts = self._driver.capture([run.name for run in runs])
        return [(pane.run, pane.build_recording(self._read_raw_log(pane), texts[pane.run.name])) for pane in panes]

    def read_texts(self, expected: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Return the stored texts once they are the expected ones, or do not change any more."""
        texts = {name: self._read_text(name) for name in expected}
        changed_at = time.monotonic()
        while time.monotonic() - changed_at < _SETTLE_S and texts != expected:
            pending = {name: self._read_text(name) for name in expected if texts[name] != expected[name]}
            changed_at = changed_at if pending.items() <= texts.items() else time.monotonic()
            texts |= pending
        return texts

    def _drive(self, panes: list[PaneRun]) -> None:
        active = {pane.run.name: pane for pane in panes}
        while active:
            self._driver.press_keys(active.values())
            for name in self._driver.list_ended() & active.keys():
                del active[name]
            overdue = [pane for pane in active.values() if is_overdue(pane)]
            assert not overdue, describe_stuck(overdue, self._driver)

    def _find_numbers(self, wanted: set[str]) -> dict[str, int]:
        """Return the pane numbers once all wanted panes are captured."""
        listed = self._scene.tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name}").splitlines()
        names = dict(line.split() for line in listed)
        captured = [item["identity"] for item in self._scene.list_panes() if item["heard_by"] == "pipe"]
        found = {names[pane["pane_id"]]: pane["id"] for pane in captured if pane["pane_id"] in names}
        return found if wanted <= found.keys() else {}

    def _measure(self, name: str) -> int:
        return sum(part.stat().st_size for part in self._list_segments(name))

    def _read_raw_log(self, pane: PaneRun) -> bytes:
        return b"".join(part.read_bytes() for part in self._list_segments(pane.run.name))

    def _list_segments(self, name: str) -> list[Path]:
        return sorted(Path(self._scene.visor.paths.raw_dir, str(self._numbers[name])).rglob("*.raw"))

    def _read_text(self, name: str) -> tuple[str, ...]:
        answer = call_robot(self._scene.visor, "get-text", str(self._numbers[name]), "--tail", "100000")
        return normalize(answer["text"].split("\n"))
