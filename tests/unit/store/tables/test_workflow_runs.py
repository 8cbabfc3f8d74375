"""The journal of workflows."""

from msgspec.structs import replace

from termvisor.model.ids import EventId, PaneId
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunSignal, Step

RUN = Run(workflow="w", version=3, event=EventId(5), pane=PaneId(2), at=10, correlation="c", facts={"a": 1, "b": "x"})


async def test_a_run_comes_back_as_it_was_stored(store):
    added = await store.runs.add(RUN, EventId(5))
    assert added == replace(RUN, id=RunId(1))
    assert await store.runs.one(added.id) == added
    assert await store.runs.cursor() == 5


async def test_one_event_starts_a_workflow_once_and_the_cursor_moves_all_the_same(store):
    await store.runs.add(RUN)
    assert await store.runs.add(RUN, EventId(9)) is None
    assert await store.runs.add(replace(RUN, workflow="other")) is not None
    assert await store.runs.add(replace(RUN, event=None)) is not None
    assert await store.runs.add(replace(RUN, event=None)) is not None
    assert await store.runs.cursor() == 9


async def test_the_cursor_never_goes_back(store):
    assert await store.runs.cursor() is None
    for event in (4, 2):
        await store.runs.offered(EventId(event))
    assert await store.runs.cursor() == 4


async def test_a_step_is_replaced_by_what_came_of_it_and_steps_are_in_order(store):
    run = await store.runs.add(RUN)
    second, first = Step(number=1, kind="note", at=2), Step(number=0, kind="act", name="send", given="{}", at=1)
    await store.runs.put(run.id, second)
    await store.runs.put(run.id, first)
    done = replace(first, came="{}", status="completed", ended_at=3, attempt=2)
    await store.runs.put(run.id, done)
    assert await store.runs.steps(run.id) == [done, second]


async def test_a_run_that_ended_is_never_changed_again(store):
    run = await store.runs.add(RUN)
    ended = replace(run, status="completed", ended_at=20)
    await store.runs.save(ended)
    await store.runs.save(replace(run, status="running"))
    assert await store.runs.one(run.id) == ended
    assert await store.runs.open() == []


async def test_runs_are_listed_by_what_is_asked_for(store):
    first = await store.runs.add(RUN)
    second = await store.runs.add(replace(RUN, workflow="v", pane=PaneId(3), status="paused", event=None, at=50))
    assert await store.runs.list(RunFilter()) == [first, second]
    assert await store.runs.list(RunFilter(), limit=1) == [second]
    assert await store.runs.list(RunFilter(workflow="v")) == [second]
    assert await store.runs.list(RunFilter(pane=PaneId(2))) == [first]
    assert await store.runs.list(RunFilter(statuses=("paused", "failed"))) == [second]
    assert await store.runs.list(RunFilter(since=20)) == [second]
    assert await store.runs.open() == [first, second]


async def test_what_is_said_to_a_run_is_kept_in_order(store):
    run = await store.runs.add(RUN)
    said = [await store.runs.say(RunSignal(run=run.id, at=at, word="go", value="v", by="human:1")) for at in (1, 2)]
    assert await store.runs.signals(run.id) == said
    assert [one.id for one in said] == [1, 2]


async def test_the_steps_and_signals_of_a_run_leave_with_it(store):
    run = await store.runs.add(RUN)
    await store.runs.put(run.id, Step(number=0, kind="note", at=1))
    await store.runs.say(RunSignal(run=run.id, at=1, word="go"))
    await store._db.write(lambda connection: connection.execute("DELETE FROM run").fetchall())
    assert (await store.runs.steps(run.id), await store.runs.signals(run.id)) == ([], [])
