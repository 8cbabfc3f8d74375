import pytest
from msgspec.structs import replace

from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.panes._rollup import (
    GROUPINGS,
    Summed,
    by_session,
    gathered,
    named,
    place_fields,
    representative,
    summed,
    together,
    told,
)
from termvisor.testing.asking import lively
from termvisor.testing.crew import DONE, WORKING


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


@pytest.mark.parametrize(
    ("spoke", "printed", "expected"),
    [
        ({WORKING: 8, DONE: 9}, {WORKING: 5}, DONE),
        ({WORKING: 8}, {DONE: 9}, WORKING),
        ({}, {WORKING: 8, DONE: 9}, DONE),
        ({}, {}, WORKING),
    ],
)
async def test_one_pane_stands_for_its_place(spoke: dict, printed: dict, expected) -> None:
    world = await lively(op="status")
    members = [
        crew.Member(
            replace(one.pane, last_output_at=printed.get(one.pane.id)),
            replace(one.view, state=replace(one.view.state, last_event=spoke.get(one.pane.id))),
        )
        for one in await crew.crew(world, {})
        if one.pane.id in (WORKING, DONE) and one.view is not None
    ]
    assert representative(members).pane.id == expected


async def test_a_place_is_called_after_the_agent_of_that_pane() -> None:
    world = await lively(op="status")
    fields = place_fields(await crew.crew(world, {"session": "work"}), world.clock.now())
    assert (fields["representative"], fields["title"]) == (DONE, "write the notes")


async def test_what_the_agents_of_a_place_used_is_summed_up() -> None:
    world = await lively(op="status")
    fields = place_fields(await crew.crew(world, {}), world.clock.now())
    assert (fields["tokens"], fields["cost"], fields["context_used"]) == (48_211, 0.42, 0.31)
    assert fields["state_age"] == 60.0
    nobody = place_fields(await crew.crew(world, {"pane": "1"}), world.clock.now())
    assert (nobody["tokens"], nobody["cost"], nobody["context_used"], nobody["state_age"]) == (None,) * 4
