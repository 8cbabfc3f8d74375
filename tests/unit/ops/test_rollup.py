from termvisor.ops import crew
from termvisor.ops.rollup import GROUPINGS, Summed, by_session, gathered, named, place_fields, summed, together, told
from termvisor.testing.asking import lively


async def test_living_panes_that_pass_the_filters_stand_together_by_place() -> None:
    world = await lively()
    groups = await gathered(world, {}, by_session)
    assert [[one.pane.id for one in group] for group in groups] == [[2], [1]]
    groups = await gathered(world, {"session": "work"}, by_session)
    assert [[one.pane.id for one in group] for group in groups] == [[1]]


async def test_what_is_said_of_some_panes_together() -> None:
    world = await lively()
    fields = place_fields(await crew.crew(world, {}), world.clock.now())
    assert (fields["panes"], fields["gaps"], fields["last_output_age"]) == ((1, 2), 1, 10.0)
    assert told(fields["by_activity"]) == "1 alt screen, 1 prompt"


async def test_what_matters_most_speaks_for_the_agents_of_a_place() -> None:
    world = await lively(op="status")
    sums = {
        named(group[0], "target-session"): Summed(**summed(group))
        for group in together(await crew.crew(world, {}), by_session)
    }
    assert (sums["local/agents"].top_state, sums["local/agents"].waiting) == ("waiting_approval", 1)
    assert (sums["local/work"].top_state, sums["local/work"].agents) == ("completed", 2)


async def test_where_no_agent_is_no_state_is_said() -> None:
    assert Summed(**summed(await crew.crew(await lively(), {}))).top_state is None


async def test_groups_are_named_for_what_they_have_in_common() -> None:
    (one, *_) = await crew.crew(await lively(op="status"), {"agent": "codex"})
    names = {grouping: named(one, grouping) for grouping in GROUPINGS}
    assert names == {
        "target-session": "local/agents",
        "session-name": "agents",
        "window": "local/agents:4",
        "target": "local",
        "agent": "codex",
    }
