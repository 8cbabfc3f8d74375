"""Another account is used only if it is configured, suitable and shares sessions; the agent exits cleanly before."""

import pytest

from termvisor.errors import Conflict, Refused
from termvisor.model.action.action import QuitAgent, SendText
from termvisor.model.ids import RuntimeId
from termvisor.workflows.results import AccountSelection
from tests.unit.workflows.builtin.test_handle_usage_limits import Desk
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

WORK = AccountSelection(
    account="openai/work", prefix=("visor", "accounts", "exec", "openai/work", "--"), shares_sessions=True
)


class Accounts:
    def __init__(self, selected: AccountSelection):
        self.selected, self.asked = selected, 0

    async def select(self, pane, agent, service) -> AccountSelection:
        self.asked += 1
        return self.selected


def desk_with(selected: AccountSelection) -> tuple[Desk, Accounts]:
    desk, accounts = Desk(), Accounts(selected)
    desk.scene.select_account = accounts.select
    desk.scene.preferences.set_values(failover_profile="work")
    desk.scene.gate.after_action = lambda action: after(desk, action)
    return desk, accounts


def after(desk: Desk, action) -> None:
    if isinstance(action, QuitAgent):
        desk.now(agent="", runtime=None, activity="prompt", state="unknown", usage_limited=False, resets_at=None)
    elif isinstance(action, SendText):
        state = "idle" if "resume" in action.text else "running"
        desk.now(agent="codex", runtime=RuntimeId(9), activity="command", state=state)


async def test_the_agent_leaves_and_comes_back_under_the_other_account():
    desk, accounts = desk_with(WORK)
    async with run_engine(desk.scene):
        desk.find()
        run = await wait_until_ended(desk.scene)
    assert (run.status, run.why) == ("completed", "the agent works again, as openai/work")
    assert isinstance(desk.scene.gate.executed[0], QuitAgent)
    texts = [one.text for one in desk.scene.gate.executed[1:]]
    assert texts == ["visor accounts exec openai/work -- codex resume abc", "proceed."]
    assert accounts.asked == 1


@pytest.mark.parametrize(
    ("selected", "words"),
    [
        (AccountSelection(why="all are used up"), "no other account: all are used up"),
        (AccountSelection(account="openai/work"), "openai/work does not know this conversation"),
    ],
)
async def test_without_a_suitable_account_the_run_pauses(selected, words):
    desk, _ = desk_with(selected)
    async with run_engine(desk.scene):
        desk.find()
        run = await desk.until("paused")
    assert run.plan.startswith(f"Trouble: {words}")
    assert run.due_at is not None and desk.scene.gate.executed == []


async def test_an_agent_that_cannot_be_asked_to_exit_stays():
    desk, _ = desk_with(WORK)
    desk.scene.gate.errors = [Conflict("its screen does not show that it rests", details={"why": "at_work"})]
    async with run_engine(desk.scene):
        desk.find()
        run = await desk.until("paused")
    assert "not asked to leave" in run.plan
    assert desk.scene.gate.executed == []


async def test_no_account_is_selected_without_the_setting():
    desk, accounts = desk_with(WORK)
    desk.scene.preferences.set_values(failover_profile="")
    async with run_engine(desk.scene):
        desk.find()
        await desk.until("paused")
    assert accounts.asked == 0


async def test_a_failed_start_under_the_account_is_reported_and_the_run_pauses():
    desk, _ = desk_with(WORK)

    def fails(action) -> None:
        if not isinstance(action, SendText):
            after(desk, action)

    desk.scene.gate.after_action = fails
    async with run_engine(desk.scene):
        desk.find()
        await advance_time(desk.scene, 1.0, 8)
        run = await desk.until("paused")
    assert run.plan.startswith("Trouble: it was started as openai/work: it ended at once; the pane shows what it said")
    assert [one.text for one in desk.scene.gate.executed[1:]] == ["visor accounts exec openai/work -- codex resume abc"]


async def test_a_denied_start_leaves_a_plan():
    desk, _ = desk_with(WORK)
    real = desk.scene.gate.run

    async def do(action, actor, terms):
        if isinstance(action, SendText):
            raise Refused("no", details={"why": "denied"})
        return await real(action, actor, terms)

    desk.scene.gate.run = do
    async with run_engine(desk.scene):
        desk.find()
        run = await desk.until("paused")
    assert run.plan.startswith("Trouble: it was not started as openai/work: no")
    assert "codex resume abc" in run.plan
