"""The journal of workflow runs."""

from msgspec.structs import replace

from termvisor.model.ids import EventId, PaneId
from termvisor.model.workflow import Run, RunFilter, RunId, RunSignal, RunStep

RUN = Run(workflow="w", version=3, event=EventId(5), pane=PaneId(2), at=10, correlation="c", facts={"a": 1, "b": "x"})


async def test_a_run_is_read_as_stored(store):
    added = await store.workflow_runs.add(RUN, EventId(5))
    assert added == replace(RUN, id=RunId(1))
    assert await store.workflow_runs.find(added.id) == added
    assert await store.workflow_runs.read_cursor() == 5


async def test_an_event_starts_a_workflow_once_and_always_advances_the_cursor(store):
    await store.workflow_runs.add(RUN)
    assert await store.workflow_runs.add(RUN, EventId(9)) is None
    assert await store.workflow_runs.add(replace(RUN, workflow="other")) is not None
    assert await store.workflow_runs.add(replace(RUN, event=None)) is not None
    assert await store.workflow_runs.add(replace(RUN, event=None)) is not None
    assert await store.workflow_runs.read_cursor() == 9


async def test_the_cursor_never_goes_back(store):
    assert await store.workflow_runs.read_cursor() is None
    for event in (4, 2):
        await store.workflow_runs.advance_cursor(EventId(event))
    assert await store.workflow_runs.read_cursor() == 4


async def test_step_result_replaces_the_step_and_steps_are_in_order(store):
    run = await store.workflow_runs.add(RUN)
    second, first = RunStep(number=1, kind="note", at=2), RunStep(number=0, kind="act", name="send", given="{}", at=1)
    await store.workflow_runs.save_step(run.id, second)
    await store.workflow_runs.save_step(run.id, first)
    done = replace(first, came="{}", status="completed", ended_at=3, attempt=2)
    await store.workflow_runs.save_step(run.id, done)
    assert await store.workflow_runs.list_steps(run.id) == [done, second]


async def test_an_ended_run_is_never_changed(store):
    run = await store.workflow_runs.add(RUN)
    ended = replace(run, status="completed", ended_at=20)
    await store.workflow_runs.save(ended)
    await store.workflow_runs.save(replace(run, status="running"))
    assert await store.workflow_runs.find(run.id) == ended
    assert await store.workflow_runs.list_open() == []


async def test_runs_are_filtered(store):
    first = await store.workflow_runs.add(RUN)
    second = await store.workflow_runs.add(
        replace(RUN, workflow="v", pane=PaneId(3), status="paused", event=None, at=50)
    )
    assert await store.workflow_runs.list(RunFilter()) == [first, second]
    assert await store.workflow_runs.list(RunFilter(), limit=1) == [second]
    assert await store.workflow_runs.list(RunFilter(workflow="v")) == [second]
    assert await store.workflow_runs.list(RunFilter(pane=PaneId(2))) == [first]
    assert await store.workflow_runs.list(RunFilter(statuses=("paused", "failed"))) == [second]
    assert await store.workflow_runs.list(RunFilter(since=20)) == [second]
    assert await store.workflow_runs.list_open() == [first, second]


async def test_signals_of_a_run_are_stored_in_order(store):
    run = await store.workflow_runs.add(RUN)
    signals = [
        await store.workflow_runs.add_signal(RunSignal(run=run.id, at=at, word="go", value="v", by="human:1"))
        for at in (1, 2)
    ]
    assert await store.workflow_runs.list_signals(run.id) == signals
    assert [one.id for one in signals] == [1, 2]


async def test_steps_and_signals_are_deleted_with_their_run(store):
    run = await store.workflow_runs.add(RUN)
    await store.workflow_runs.save_step(run.id, RunStep(number=0, kind="note", at=1))
    await store.workflow_runs.add_signal(RunSignal(run=run.id, at=1, word="go"))
    await store._db.write(lambda connection: connection.execute("DELETE FROM run").fetchall())
    assert (await store.workflow_runs.list_steps(run.id), await store.workflow_runs.list_signals(run.id)) == ([], [])
