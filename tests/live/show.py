"""A show: plays in many panes at once, undisturbed or with a daemon that is killed at every write of every run."""

import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from sqlite3 import OperationalError
from typing import NamedTuple

from tests.live.plays import Play, Then
from tests.live.theatre import Role, Theatre

PATIENCE = 120.0


class Came(NamedTuple):
    """What came of a run: nothing in it depends on the time, on numbers or on who was killed when."""

    status: str
    steps: list[tuple[str, str, str]]
    typed: str
    started: int
    events: list[tuple[str, str]]
    """What was detected in the pane, and who saw to it; its banner may be painted over before anybody looks."""


class Part:
    """A play in one pane."""

    def __init__(self, play: Play, role: Role):
        self.play, self.role = play, role
        self._left = list(play.then)

    def follow(self, theatre: Theatre) -> None:
        """What happens next, once the run waits for it."""
        if self._left and _has_come(theatre, self.play.workflow, self.role.pane, self._left[0]):
            self.role.cue(self._left.pop(0).cue)

    def runs(self, theatre: Theatre) -> list[tuple[int, str, int | None, str]]:
        return theatre.rows(
            "SELECT run.id, run.status, run.ended_at, detection.type FROM run"
            " LEFT JOIN detection ON detection.event = run.event WHERE run.pane = ? AND run.workflow = ?",
            self.role.pane,
            self.play.workflow,
        )

    def run(self, theatre: Theatre) -> list[tuple[int, str, int | None, str]]:
        return [one for one in self.runs(theatre) if self.play.event in ("", one[3])]

    def came(self, theatre: Theatre) -> Came:
        runs = self.run(theatre)
        assert len(runs) == 1, f"{self.play.workflow}: {runs}"
        steps = theatre.rows("SELECT kind, name, status FROM run_step WHERE run = ? ORDER BY number", runs[0][0])
        events = theatre.rows(
            "SELECT type, handled_by FROM detection WHERE pane = ? AND type != 'session.start' ORDER BY type",
            self.role.pane,
        )
        return Came(runs[0][1], steps, self.role.arrived(), len(self.role.started()), events)


class Show:
    """``lives`` counts the daemons that died."""

    def __init__(self, theatre: Theatre, plays: Sequence[Play]):
        self._theatre, self._plays = theatre, plays
        self.lives = 0

    def open(self, names: Collection[str] = ()) -> list[Part]:
        """The understudies come on; with ``names`` only those of these plays."""
        wanted = [play for play in self._plays if not names or play.workflow in names]
        return [Part(play, self._theatre.open(play.workflow)) for play in wanted]

    def known(self, parts: Sequence[Part]) -> None:
        """Once every understudy is known for the agent that it plays."""
        with self._theatre.daemon():
            self._theatre.fill()
        self._theatre.minded = {str(part.role.pane): part.play.minded for part in parts if part.play.minded}

    def begin(self, parts: Sequence[Part]) -> None:
        for part in parts:
            part.role.cue(part.play.cue)

    def undisturbed(self, parts: Sequence[Part]) -> None:
        with self._theatre.daemon() as process:
            self.begin(parts)
            assert not self._live(process, parts)

    def disturbed(self, parts: Sequence[Part], kinds: Sequence[dict], most: int = 200) -> None:
        """A life for each of these plans, the last of them again and again; after so many, an undisturbed one."""
        has_begun = False
        while self.lives < most:
            plan = kinds[min(self.lives, len(kinds) - 1)]
            with self._theatre.daemon(**plan) as process:
                if not has_begun:
                    self.begin(parts)
                    has_begun = True
                if not self._live(process, parts):
                    return
            self.lives += 1
        with self._theatre.daemon() as process:
            assert not self._live(process, parts)

    def _live(self, process: "subprocess.Popen[bytes]", parts: Sequence[Part]) -> bool:
        """Until the daemon dies or all is over; whether it died."""
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            with suppress(OperationalError):
                if self._is_over(parts):
                    return False
                self._theatre.say_yes({part.role.pane for part in parts if part.play.is_silent})
                self._theatre.go_on({part.role.pane for part in parts if part.play.is_resumed})
                for part in parts:
                    part.follow(self._theatre)
            assert time.monotonic() < deadline, f"{self._theatre.open_runs()} go on for too long"
            time.sleep(0.05)
        return True

    def _is_over(self, parts: Sequence[Part]) -> bool:
        runs = [part.runs(self._theatre) for part in parts]
        is_begun = all(part.run(self._theatre) for part in parts)
        return is_begun and all(ended is not None for found in runs for _, _, ended, _ in found)


def _has_come(theatre: Theatre, workflow: str, pane: int, then: Then) -> bool:
    steps = theatre.rows(
        "SELECT run_step.status FROM run_step JOIN run ON run.id = run_step.run"
        " WHERE workflow = ? AND pane = ? AND kind = ? ORDER BY number",
        workflow,
        pane,
        then.kind,
    )
    return len(steps) >= then.nth and (not then.is_over or steps[then.nth - 1][0] == "completed")
