"""Another account is used only if it is configured, suitable and shares sessions; the agent exits cleanly before."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from msgspec.structs import replace

from termvisor.errors import Conflict, NotDone, Refused, TimedOut
from termvisor.model.action.action import QuitAgent, SendText
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.workflows.builtin.limit_resume import PausedPane, check_unchanged, verify_started
from termvisor.workflows.context import StepBack
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

    def __init__(self, *waits: object, state: str = "unknown", seen: Sequence[Observation] = ()):
        self._waits, self._state, self._seen = list(waits), state, list(seen)
        self.calls: list[object] = []

    async def note(self, text: str) -> None:
        self.calls.append(text)

    async def wait_state(self, *states: str, **options: object) -> WaitResult:
        self.calls.append((*states, options))
        answer = self._waits.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return WaitResult(what="state", text=str(answer))

    async def observe(self, _lines: int) -> Observation:
        if self._seen:
            return self._seen.pop(0)
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


async def test_an_agent_that_does_not_leave_is_not_restarted():
    limit, _ = build_limit_scene(WORK)
    limit.scene.gate.after_action = lambda action: None
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith("Trouble: the agent was asked to leave, and no shell's prompt was seen")
    assert [type(one) for one in limit.scene.gate.executed] == [QuitAgent]


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"activity": "command"}, "it was not seen to come up within 120 s"),
        ({"agent": "codex", "state": "waiting_input"}, "it was not seen to come up within 120 s"),
    ],
)
async def test_a_started_agent_that_never_rests_gets_no_prompt(facts, problem):
    limit, _ = build_limit_scene(WORK)

    def start_slowly(action) -> None:
        apply_action(limit, action)
        if isinstance(action, SendText):
            limit.set_facts(**{"agent": "", "runtime": None, "activity": "prompt", "state": "unknown"} | facts)

    limit.scene.gate.after_action = start_slowly
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await advance_time(limit.scene, 5.0, 30)
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith(f"Trouble: it was started as openai/work: {problem}")
    assert len(limit.scene.gate.executed) == 2


async def test_the_message_of_the_account_launcher_is_shown():
    limit, _ = build_limit_scene(WORK)

    def fail_start(action) -> None:
        if isinstance(action, SendText):
            limit.scene.services.print_lines(limit.scene.pane, "visor: old", "visor: the key has expired", "$")
        else:
            apply_action(limit, action)

    limit.scene.gate.after_action = fail_start
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith("Trouble: it was started as openai/work: visor: the key has expired")


async def test_an_uncertain_start_is_left_to_a_person():
    limit, _ = build_limit_scene(WORK)

    def lose_answer(action) -> None:
        apply_action(limit, action)
        if isinstance(action, QuitAgent):
            limit.scene.gate.outcome = Outcome(status="done")
        else:
            limit.scene.gate.outcome = Outcome(status="unknown", why="no_answer")

    limit.scene.gate.after_action = lose_answer
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await wait_until_ended(limit.scene)
    assert run.status == "failed" and "not known whether it was taken" in run.why
    assert len(limit.scene.gate.executed) == 2


async def test_a_denied_prompt_ends_the_run():
    limit = LimitScene()
    limit.scene.gate.errors = [Refused("quiet hours")]
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        await limit.advance_to_reset()
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why, limit.sent_inputs) == ("failed", "quiet hours", [])


BEFORE = Observation(at=1, pane=PaneId(1), agent="codex", runtime=RuntimeId(4), session="abc", state="error")
SHELL = Observation(at=1, pane=PaneId(1), activity="prompt")
ANOTHER = "the pane changed during the pause: its agent is another one, or has exited"


@pytest.mark.parametrize(
    ("before", "changes", "expected"),
    [
        (BEFORE, {}, ""),
        (BEFORE, {"state": "idle"}, ""),
        (BEFORE, {"state": "completed"}, ""),
        (BEFORE, {"state": "waiting_input"}, ""),
        (BEFORE, {"runtime": RuntimeId(5)}, ANOTHER),
        (BEFORE, {"agent": "gemini"}, ANOTHER),
        (BEFORE, {"session": "x"}, "the pane changed during the pause: the agent is in another session"),
        (replace(BEFORE, session=""), {"session": "x"}, ""),
        (BEFORE, {"state": "running"}, "the pane changed during the pause: codex is running"),
        (SHELL, {}, ""),
        (SHELL, {"activity": "command"}, "the pane changed during the pause: no shell is at its prompt"),
    ],
)
async def test_a_pane_is_unchanged_if_nothing_but_its_rest_differs(before, changes, expected):
    context = ScriptedContext(seen=[replace(before, **changes)])
    paused = PausedPane(seen=before, words="go on")
    if expected:
        with pytest.raises(StepBack) as changed:
            await check_unchanged(context, paused)
        assert str(changed.value) == expected
    else:
        assert await check_unchanged(context, paused) == replace(before, **changes)


@pytest.mark.parametrize(
    ("before", "changes", "waits"),
    [
        (BEFORE, {"state": "unknown"}, 1),
        (BEFORE, {"state": "unknown", "activity": "prompt"}, 0),
        (BEFORE, {"state": "idle"}, 0),
        (SHELL, {"state": "unknown", "activity": "command"}, 0),
    ],
)
async def test_only_an_agent_without_signals_is_awaited(before, changes, waits):
    context = ScriptedContext(TimedOut("late"), seen=[replace(before, **changes), before])
    if waits:
        assert await check_unchanged(context, PausedPane(seen=before, words="")) == before
        assert context.calls == [
            ("idle", "completed", "error", "waiting_input", "running", "waiting_approval", {"timeout": 30.0}),
            "nothing is heard of the agent",
        ]
    else:
        with suppress(StepBack):
            await check_unchanged(context, PausedPane(seen=before, words=""))
        assert context.calls == []
