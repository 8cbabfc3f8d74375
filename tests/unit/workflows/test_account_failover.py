"""Under which account an agent may go on, as a workflow asks for it."""

from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.account_failover import AccountSelection, NoAccountSelector
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.running_engine import run_engine, wait_until_ended


async def test_without_accounts_nobody_is_moved():
    assert await NoAccountSelector().select(None, "codex", "") == AccountSelection(why="there are no accounts")


async def test_it_is_one_step_of_a_run():
    async def asks(context) -> str:
        return (await context.select_account()).why

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=asks))
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        assert (await wait_until_ended(scene)).why == "there are no accounts"
