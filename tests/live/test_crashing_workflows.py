"""Built-in workflows, before agents played in a real tmux, beside a daemon that is killed at every write of every run:
they end the same, no key comes twice, and no event is lost."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from termvisor.testing.histories import read
from termvisor.workflow.base import BUILTIN
from tests.live.plays import PLAYS, Play
from tests.live.show import Came, Part, Show
from tests.live.theatre import Theatre, theatre
from tests.recordings.history import history

HISTORIES = Path(__file__).resolve().parents[1] / "recordings" / "histories"
SETTINGS = {"workflow_modes": "*=on", "workflow_max_concurrent": "50", "workflow_unstick_after": "1"}
NAMES = [play.workflow for play in PLAYS]
FEW = 3
Told = dict[str, dict[str, Came]]


def test_every_built_in_workflow_is_played():
    assert sorted(NAMES) == sorted(BUILTIN)


def plans(after: list[Part], before: list[Part]) -> list[dict]:
    """Killed before any run has begun; right after they have; and then at every write."""
    panes = {"after": [part.role.pane for part in after], "before": [part.role.pane for part in before]}
    return [{"added": "before"}, {"added": "after"}, panes]


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    """How each play ended: undisturbed; killed right after each write; killed right before each."""
    with theatre(**SETTINGS) as stage:
        show = Show(stage, PLAYS)
        kinds = {kind: show.open() for kind in ("still", "after", "before")}
        show.known([part for parts in kinds.values() for part in parts])
        show.undisturbed(kinds["still"])
        if os.environ.get("GOLDEN") == "write":
            keep(stage, kinds["still"])
        show.disturbed([*kinds["after"], *kinds["before"]], plans(kinds["after"], kinds["before"]))
        yield checked(stage, kinds)


@pytest.fixture
def told_soon() -> Iterator[Told]:
    """The same with a few kills: of the plays every other one is killed before its writes, the others after them."""
    with theatre(**SETTINGS) as stage:
        show = Show(stage, PLAYS)
        parts = show.open()
        show.known(parts)
        show.disturbed(parts, plans(parts[::2], parts[1::2]), most=FEW)
        yield checked(stage, {"killed": parts})


def checked(stage: Theatre, kinds: dict[str, list[Part]]) -> Told:
    with stage.daemon():
        stage.visor.visor("audit", "verify")
    return {kind: {part.play.workflow: part.came(stage) for part in parts} for kind, parts in kinds.items()}


def keep(stage: Theatre, parts: list[Part]) -> None:
    """What they asked for and got, for `tests/replay`; the folders of this theatre are nobody else's business."""
    for part in parts:
        data = asyncio.run(history(stage.visor.places.database, part.run(stage)[0][0], ""))
        path = HISTORIES / f"{part.play.workflow}_played.json"
        path.write_bytes(data.replace(str(part.role.folder).encode(), b"/home/dev"))


@pytest.mark.live
@pytest.mark.timeout(300)
@pytest.mark.parametrize("play", PLAYS, ids=NAMES)
def test_killed_at_every_write_it_ends_as_if_nothing_had_happened(told: Told, play: Play):
    still = told["still"][play.workflow]
    assert (still.status, still.started) == (play.status, play.started)
    assert still.typed.count(play.typed) == 1
    assert told["after"][play.workflow] == still
    assert told["before"][play.workflow] == still


@pytest.mark.timeout(120)
def test_killed_a_few_times_they_end_as_they_were_recorded(told_soon: Told):
    """One test for all plays: they are on stage together, and two processes would each set up all of them."""
    for play in PLAYS:
        came, kept = told_soon["killed"][play.workflow], read((HISTORIES / f"{play.workflow}_played.json").read_bytes())
        assert (play.workflow, came.status, came.started) == (play.workflow, kept.run.status, play.started)
        assert came.steps == [(step.kind, step.name, step.status) for step in kept.steps], play.workflow
        assert came.typed.count(play.typed) == 1, play.workflow
