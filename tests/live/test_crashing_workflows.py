"""Built-in workflows, before agents played in a real tmux, beside a daemon that is killed at every write of every run
and at every moment of every act: they end the same or say what they do not know, no key comes twice, no event is lost.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from termvisor.testing.histories import History, read
from termvisor.workflows.workflow import BUILTIN
from tests.live.act_moments import AS_IF_NOTHING_HAPPENED, MOMENTS
from tests.live.plays import PLAYS, Play
from tests.live.show import Came, Part, Show
from tests.live.theatre import Theatre, theatre
from tests.recordings.history import history

HISTORIES = Path(__file__).resolve().parents[1] / "recordings" / "histories"
SETTINGS = {"workflow_modes": "*=on", "workflow_max_concurrent": "50", "workflow_unstick_after": "1"}
NAMES = [play.workflow for play in PLAYS]
FEW = 3
GRID = (("judged", "recorded", "written"), ("pressed", "verified", "told"))
SAMPLE = {"written": "handle_compaction", "judged": "answer_permission"}
Told = dict[str, dict[str, Came]]


def test_every_built_in_workflow_is_played_and_every_moment_is_one_of_death():
    assert sorted(NAMES) == sorted(BUILTIN)
    assert [moment for moments in GRID for moment in moments] == list(MOMENTS)


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
    """The same with a few kills: of the plays every other one is killed before its writes, the others after them; and
    some are played once more and killed in the midst of their acts."""
    with theatre(**SETTINGS) as stage:
        show = Show(stage, PLAYS)
        parts = show.open()
        acting = {moment: show.open([name]) for moment, name in SAMPLE.items()}
        everybody = [*parts, *(part for found in acting.values() for part in found)]
        show.known(everybody)
        during = amid(acting)
        show.disturbed(everybody, [plan | during for plan in plans(parts[::2], parts[1::2])], most=FEW)
        yield checked(stage, {"killed": parts, **acting})


@pytest.fixture(params=GRID, ids=" ".join)
def amidst(request: pytest.FixtureRequest) -> Iterator[Told]:
    """How each play ended whose daemon was killed at these moments of all its acts."""
    with theatre(**SETTINGS) as stage:
        show = Show(stage, PLAYS)
        acting = {moment: show.open() for moment in request.param}
        everybody = [part for parts in acting.values() for part in parts]
        show.known(everybody)
        show.disturbed(everybody, [{"hasty": True} | amid(acting)])
        assert show.lives > 1
        yield checked(stage, acting)


def amid(acting: dict[str, list[Part]]) -> dict:
    return {"during": {str(part.role.pane): moment for moment, parts in acting.items() for part in parts}}


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


def faults(play: Play, came: Came, kept: History | None = None) -> list[str]:
    """What is wrong with how a play ended. With ``kept`` it must have ended as it was recorded; without, what is not
    known of an act may have come to nothing, and never to two."""
    typed = came.typed.count(play.typed) if play.typed else 0
    found = [f"{typed} times typed"] if typed > 1 else []
    found += [f"{came.started} times started"] if came.started > play.started else []
    found += [f"it is {came.status}"] if came.status not in ("completed", "failed") else []
    if kept is None:
        return found
    found += [f"it is {came.status}"] if came.status != kept.run.status else []
    found += ["other steps"] if came.steps != [(one.kind, one.name, one.status) for one in kept.steps] else []
    found += ["not typed"] if play.typed and not typed else []
    return found + (["not started"] if came.started < play.started else [])


def recorded(play: Play) -> History:
    return read((HISTORIES / f"{play.workflow}_played.json").read_bytes())


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
    ended = told_soon.pop("killed")
    assert {play.workflow: told for play in PLAYS if (told := faults(play, ended[play.workflow], recorded(play)))} == {}
    for moment, came in told_soon.items():
        check_amidst(moment, came)


@pytest.mark.live
@pytest.mark.timeout(300)
def test_killed_in_the_midst_of_their_acts_they_never_act_twice(amidst: Told):
    for moment, came in amidst.items():
        check_amidst(moment, came)


def check_amidst(moment: str, ended: dict[str, Came]) -> None:
    is_known = moment in AS_IF_NOTHING_HAPPENED
    played = [(play, ended[play.workflow]) for play in PLAYS if play.workflow in ended]
    found = {play.workflow: faults(play, came, recorded(play) if is_known else None) for play, came in played}
    assert {name: (moment, told) for name, told in found.items() if told} == {}


@pytest.mark.live
@pytest.mark.timeout(180)
def test_an_engine_that_does_not_know_its_own_acts_again_is_found_out():
    """It acts, dies before that is in its journal, and acts again: were this not seen here, nothing would be proven."""
    with theatre(**SETTINGS) as stage:
        show = Show(stage, PLAYS[:1])
        parts = show.open()
        show.known(parts)
        show.disturbed(parts, [{"before": [parts[0].role.pane], "forgets": True}])
        came = checked(stage, {"killed": parts})["killed"][PLAYS[0].workflow]
    assert "2 times typed" in faults(PLAYS[0], came, recorded(PLAYS[0]))
