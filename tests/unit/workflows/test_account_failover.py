"""Account selection as a workflow step."""

from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.account_failover import AccountSelection, NoAccountSelector
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.running_engine import run_engine, wait_until_ended


async def test_without_accounts_none_is_selected():
    assert await NoAccountSelector().select(None, "codex", "") == AccountSelection(why="no accounts are configured")


async def test_it_is_one_step_of_a_run():
    async def asks(context) -> str:
        return (await context.select_account()).why

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=asks))
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        assert (await wait_until_ended(scene)).why == "no accounts are configured"
