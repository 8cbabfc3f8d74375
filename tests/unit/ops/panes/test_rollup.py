import pytest
from msgspec.structs import replace

from termvisor.ops.agents import _pane_agents
from termvisor.ops.panes._rollup import (
    GROUP_KEY_FUNCTIONS,
    AgentTotals,
    build_group_fields,
    format_counts,
    format_group_name,
    get_session_key,
    group_members,
    group_panes,
    pick_representative,
    sum_agents,
)
from termvisor.testing.sample_agents import DONE_PANE, WORKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def test_existing_panes_that_match_are_grouped() -> None:
    services = await build_sample_services()
    groups = await group_panes(services, {}, get_session_key)
    assert [[one.pane.id for one in group] for group in groups] == [[2], [1]]
    groups = await group_panes(services, {"session": "work"}, get_session_key)
    assert [[one.pane.id for one in group] for group in groups] == [[1]]


async def test_totals_of_a_group_of_panes() -> None:
    services = await build_sample_services()
    fields = build_group_fields(await _pane_agents.select_panes_with_agents(services, {}), services.clock.now())
    assert (fields["panes"], fields["gaps"], fields["last_output_age"]) == ((1, 2), 1, 10.0)
    assert format_counts(fields["by_activity"]) == "1 alt screen, 1 prompt"


async def test_the_most_important_state_is_the_top_state() -> None:
    services = await build_sample_services(op="status")
    sums = {
        format_group_name(group[0], "target-session"): AgentTotals(**sum_agents(group))
        for group in group_members(await _pane_agents.select_panes_with_agents(services, {}), get_session_key)
    }
    assert (sums["local/agents"].top_state, sums["local/agents"].waiting) == ("waiting_approval", 1)
    assert (sums["local/work"].top_state, sums["local/work"].agents) == ("completed", 2)


async def test_a_group_without_agents_has_no_state() -> None:
    assert (
        AgentTotals(
            **sum_agents(await _pane_agents.select_panes_with_agents(await build_sample_services(), {}))
        ).top_state
        is None
    )


async def test_groups_are_named_by_their_key() -> None:
    (one, *_) = await _pane_agents.select_panes_with_agents(
        await build_sample_services(op="status"), {"agent": "codex"}
    )
    names = {grouping: format_group_name(one, grouping) for grouping in GROUP_KEY_FUNCTIONS}
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
        ({WORKING_PANE: 8, DONE_PANE: 9}, {WORKING_PANE: 5}, DONE_PANE),
        ({WORKING_PANE: 8}, {DONE_PANE: 9}, WORKING_PANE),
        ({}, {WORKING_PANE: 8, DONE_PANE: 9}, DONE_PANE),
        ({}, {}, WORKING_PANE),
    ],
)
async def test_one_pane_represents_its_group(spoke: dict, printed: dict, expected) -> None:
    services = await build_sample_services(op="status")
    members = [
        _pane_agents.PaneWithAgent(
            replace(one.pane, last_output_at=printed.get(one.pane.id)),
            replace(one.view, state=replace(one.view.state, last_event=spoke.get(one.pane.id))),
        )
        for one in await _pane_agents.select_panes_with_agents(services, {})
        if one.pane.id in (WORKING_PANE, DONE_PANE) and one.view is not None
    ]
    assert pick_representative(members).pane.id == expected


async def test_a_group_has_the_title_of_its_representative() -> None:
    services = await build_sample_services(op="status")
    fields = build_group_fields(
        await _pane_agents.select_panes_with_agents(services, {"session": "work"}), services.clock.now()
    )
    assert (fields["representative"], fields["title"]) == (DONE_PANE, "write the notes")


async def test_agent_usage_of_a_group_is_summed() -> None:
    services = await build_sample_services(op="status")
    fields = build_group_fields(await _pane_agents.select_panes_with_agents(services, {}), services.clock.now())
    assert (fields["tokens"], fields["cost"], fields["context_used"]) == (48_211, 0.42, 0.31)
    assert fields["state_age"] == 60.0
    empty = build_group_fields(
        await _pane_agents.select_panes_with_agents(services, {"pane": "1"}), services.clock.now()
    )
    assert (empty["tokens"], empty["cost"], empty["context_used"], empty["state_age"]) == (None,) * 4
