"""Stored sessions for workflows, in a real daemon."""

from msgspec.structs import replace

from termvisor.daemon.workflows.sessions import WorkflowSessions
from termvisor.model.ids import RuntimeId, SessionId
from termvisor.store.tables.agent_facts import FactBatch
from termvisor.workflows.calls import LastSessionCall
from tests.unit.agents.tracking.tracker_scene import ONE
from tests.unit.daemon.services.test_agents import live, services  # noqa: F401 - a fixture


async def test_the_last_one_of_a_pane_is_found_by_process_or_name(services):  # noqa: F811
    pane = await live(services, "running")
    told = WorkflowSessions(services._components)
    found = await told.find_last_session(pane, LastSessionCall())
    assert (found.agent, found.runtime, found.is_over) == ("toy", ONE, False)
    assert (await told.find_last_session(pane, LastSessionCall(runtime=ONE))).id == found.id
    assert (await told.find_last_session(pane, LastSessionCall(runtime=RuntimeId(9)))).id == 0
    assert (await told.find_last_session(pane, LastSessionCall(session="another"))).id == 0


async def test_only_what_is_missing_is_added_and_only_to_one_that_is_over(services):  # noqa: F811
    pane = await live(services, "running")
    told = WorkflowSessions(services._components)
    number = (await told.find_last_session(pane, LastSessionCall())).id
    assert (await told.update_session(number, "", {"total": 7})).tokens == {}, "it goes on"
    (known,) = await services._components.store.sessions.list()
    over = replace(known, ended_at=known.started_at + 1, end_reason="completed")
    await services._components.store.agent_facts.add(FactBatch(sessions=[over]))
    assert (await told.update_session(number, "", {"total": 7, "nonsense": 3})).tokens == {"total": 7}
    kept = await told.update_session(number, "", {"total": 9, "input": 4})
    assert (kept.tokens, kept.is_over, kept.end_reason) == ({"total": 7, "input": 4}, True, "completed")
    assert (await told.update_session(SessionId(999), "", {})).id == 0
