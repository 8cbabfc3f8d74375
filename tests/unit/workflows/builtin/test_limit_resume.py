"""Another account is used only if it is configured, suitable and shares sessions; the agent exits cleanly before."""

import pytest

from termvisor.errors import Conflict, NotDone, Refused, TimedOut
from termvisor.model.action.action import QuitAgent, SendText
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.workflows.builtin.limit_resume import verify_started
from termvisor.workflows.results import AccountSelection, Observation, WaitResult
from tests.unit.workflows.builtin.test_handle_usage_limits import LimitScene
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

WORK = AccountSelection(
    account="openai/work", prefix=("visor", "accounts", "exec", "openai/work", "--"), shares_sessions=True
)


class ScriptedAccounts:
    def __init__(self, selected: AccountSelection):
        self.selected, self.call_count = selected, 0

    async def select(self, pane, agent, service) -> AccountSelection:
        self.call_count += 1
        return self.selected


def build_limit_scene(selected: AccountSelection) -> tuple[LimitScene, ScriptedAccounts]:
    limit, accounts = LimitScene(), ScriptedAccounts(selected)
    limit.scene.select_account = accounts.select
    limit.scene.preferences.set_values(failover_profile="work")
    limit.scene.gate.after_action = lambda action: apply_action(limit, action)
    return limit, accounts


def apply_action(limit: LimitScene, action) -> None:
    if isinstance(action, QuitAgent):
        limit.set_facts(agent="", runtime=None, activity="prompt", state="unknown", usage_limited=False, resets_at=None)
    elif isinstance(action, SendText):
        state = "idle" if "resume" in action.text else "running"
        limit.set_facts(agent="codex", runtime=RuntimeId(9), activity="command", state=state)


async def test_the_agent_exits_and_restarts_with_the_other_account():
    limit, accounts = build_limit_scene(WORK)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why) == ("completed", "the agent works again, as openai/work")
    assert isinstance(limit.scene.gate.executed[0], QuitAgent)
    texts = [one.text for one in limit.scene.gate.executed[1:]]
    assert texts == ["visor accounts exec openai/work -- codex resume abc", "proceed."]
    assert accounts.call_count == 1


@pytest.mark.parametrize(
    ("selected", "words"),
    [
        (AccountSelection(why="all are used up"), "no other account: all are used up"),
        (AccountSelection(account="openai/work"), "openai/work does not know this conversation"),
    ],
)
async def test_without_a_suitable_account_the_run_pauses(selected, words):
    limit, _ = build_limit_scene(selected)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith(f"Trouble: {words}")
    assert run.due_at is not None and limit.scene.gate.executed == []


async def test_an_agent_that_cannot_quit_is_not_restarted():
    limit, _ = build_limit_scene(WORK)
    limit.scene.gate.errors = [Conflict("its screen does not show that it rests", details={"why": "at_work"})]
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await limit.wait_for_status("paused")
    assert "not asked to leave" in run.plan
    assert limit.scene.gate.executed == []


async def test_no_account_is_selected_without_the_setting():
    limit, accounts = build_limit_scene(WORK)
    limit.scene.preferences.set_values(failover_profile="")
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
    assert accounts.call_count == 0


async def test_a_failed_start_under_the_account_is_reported_and_the_run_pauses():
    limit, _ = build_limit_scene(WORK)

    def fail_start(action) -> None:
        if not isinstance(action, SendText):
            apply_action(limit, action)

    limit.scene.gate.after_action = fail_start
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await advance_time(limit.scene, 1.0, 8)
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith("Trouble: it was started as openai/work: it ended at once; the pane shows what it said")
    assert [one.text for one in limit.scene.gate.executed[1:]] == [
        "visor accounts exec openai/work -- codex resume abc"
    ]


async def test_a_denied_start_leaves_a_plan():
    limit, _ = build_limit_scene(WORK)
    real = limit.scene.gate.run

    async def run_action(action, actor, preconditions):
        if isinstance(action, SendText):
            raise Refused("no", details={"why": "denied"})
        return await real(action, actor, preconditions)

    limit.scene.gate.run = run_action
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith("Trouble: it was not started as openai/work: no")
    assert "codex resume abc" in run.plan


class ScriptedContext:
    """Answers the waits of a workflow in order; errors are raised."""

    def __init__(self, *waits: object, state: str = "unknown"):
        self._waits, self._state = list(waits), state

    async def wait_state(self, *_states: str, **_options: object) -> WaitResult:
        answer = self._waits.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return WaitResult(what="state", text=str(answer))

    async def observe(self, _lines: int) -> Observation:
        return Observation(at=1, pane=PaneId(1), agent="codex", state=self._state)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (ScriptedContext("running", "completed"), ("how", "")),
        (ScriptedContext("idle"), ("how", "")),
        (ScriptedContext("running", TimedOut("stable"), state="running"), ("how", "")),
        (ScriptedContext("running", "error"), ("", "the agent was told to go on and was refused again")),
        (ScriptedContext("error"), ("", "the agent was told to go on and was refused again")),
    ],
)
async def test_an_agent_has_started_unless_it_is_refused_again(context, expected):
    assert await verify_started(context, "how") == expected


@pytest.mark.parametrize("waits", [(TimedOut("late"),), ("running", TimedOut("late"))])
async def test_an_agent_that_does_not_start_is_reported(waits):
    with pytest.raises(NotDone, match="did not start to work") as raised:
        await verify_started(ScriptedContext(*waits, state="idle"), "how")
    assert raised.value.details == {"status": "failed", "why": "not_taken_up"}
