from termvisor.model.pane import PaneView
from termvisor.ops.rollup import Place, Places, gathered, summed, told
from termvisor.testing.asking import lively


def _session(pane: PaneView) -> Place:
    return (pane.facts.session_name,)


async def test_living_panes_that_pass_the_filters_stand_together_by_place() -> None:
    world = await lively()
    given, groups = await gathered(world, Places(), _session)
    assert (given, [[pane.id for pane in group] for group in groups]) == ({}, [[2], [1]])
    given, groups = await gathered(world, Places(session="work"), _session)
    assert (given, [[pane.id for pane in group] for group in groups]) == ({"session": "work"}, [[1]])


async def test_what_is_said_of_some_panes_together() -> None:
    world = await lively()
    panes = await world.fleet.panes()
    together = summed(panes, world.clock.now())
    assert (together["panes"], together["gaps"], together["last_output_age"]) == ((1, 2), 1, 10.0)
    assert told(together["by_activity"]) == "1 alt screen, 1 prompt"
