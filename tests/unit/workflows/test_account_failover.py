"""Under which account an agent may go on, as a workflow asks for it."""

from termvisor.testing.runs import Scene
from termvisor.workflows.account_failover import NoFailover, Selected
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.living import ended, living


async def test_without_accounts_nobody_is_moved():
    assert await NoFailover().select(None, "codex", "") == Selected(why="there are no accounts")


async def test_it_is_one_step_of_a_run():
    async def asks(context) -> str:
        return (await context.select_account()).why

    scene = Scene(Workflow(name="refresh", summary="", run=asks))
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        assert (await ended(scene)).why == "there are no accounts"
