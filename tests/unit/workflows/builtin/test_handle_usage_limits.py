"""A usage limit: a plan at once, nothing typed before its end, and then one prompt."""

import pytest
from msgspec import structs

from termvisor.clock import NS
from termvisor.errors import Conflict, NeedsApproval
from termvisor.model.action.action import AnswerDialog, SendText
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId
from termvisor.model.workflow import Run, RunId
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.builtin.handle_usage_limits import (
    AUTO_CONTINUE_TEXT,
    WORKFLOW,
    LimitSituation,
    format_duration,
    render_plan,
)
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended

RUNTIME = RuntimeId(4)
HOUR = 3600


class LimitScene:
    """An agent that has reached its limit, which ends in an hour."""

    def __init__(self, agent: str = "codex", **facts):
        self.scene = WorkflowScene(WORKFLOW)
        self.ends_at = self.scene.clock.now() + HOUR * NS + 7 * NS
        known = {"agent": agent, "runtime": RUNTIME, "state": "error", "usage_limited": True, "session": "abc"}
        known |= {"resets_at": self.ends_at, "resume": ("codex", "resume", "abc"), "cwd": "/work"}
        self.set_facts(**known | facts)
        self.scene.gate.after_action = lambda _: self.set_facts(state="running", usage_limited=False, resets_at=None)

    def set_facts(self, **facts) -> None:
        if "state" in facts:
            facts["state_at"] = self.scene.clock.now()
        self.scene.pane_observer.change_pane(self.scene.pane, **facts)

    def add_detection_of_limit(self, **more) -> None:
        agent = self.scene.pane_observer.observations[self.scene.pane].agent
        known = {"type_": "usage.reached", "rule": "signal.usage_limited", "source": "signal", "severity": "error"}
        self.scene.add_detection(**known | {"agent": agent, "runtime": RUNTIME} | more)

    @property
    def run(self) -> Run:
        return self.scene.runs.stored_runs[RunId(1)]

    @property
    def sent_inputs(self) -> list[str]:
        """Return the texts that were typed and the dialog choices that were taken."""
        return [one.text if isinstance(one, SendText) else one.choice for one in self.scene.gate.executed]

    async def wait_for_status(self, status: str) -> Run:
        for _ in range(60):
            await let_tasks_run()
            if self.run.status == status:
                return self.run
            await advance_time(self.scene, 1.0)
        raise AssertionError(self.run)

    async def advance_to_reset(self) -> None:
        """Advance the clock to the reset time in steps of 30 seconds."""
        await advance_time(self.scene, 30.0, HOUR // 30 + 2)


async def test_the_run_pauses_with_a_plan_and_prompts_once_after_the_reset():
    limit = LimitScene()
    async with run_engine(limit.scene):
        began = limit.scene.clock.now()
        limit.add_detection_of_limit()
        await advance_time(limit.scene, 0.0, 3)
        assert (limit.run.status, limit.run.due_at) == ("paused", limit.ends_at + 5 * NS)
        assert limit.scene.clock.now() == began
        for part in (
            "2026-01-01 13:00:07 UTC, in 1 h",
            "session abc",
            "cd /work && codex resume abc",
            "'proceed.'",
            "visor workflow cancel 1",
        ):
            assert part in limit.run.plan
        assert limit.scene.detections.handling_by_event[1].action == "paused, as planned"
        await advance_time(limit.scene, 30.0, 100)
        assert limit.sent_inputs == []
        await limit.advance_to_reset()
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why) == ("completed", "the limit is over and the agent works again")
    assert limit.sent_inputs == ["proceed."]


async def test_a_reset_time_without_seconds_is_rounded_up_to_the_minute():
    limit = LimitScene()
    minute = 60 * NS
    even = limit.ends_at // minute * minute
    limit.set_facts(resets_at=even)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        assert (await limit.wait_for_status("paused")).due_at == even + minute


async def test_a_reset_in_the_current_minute_is_not_past():
    limit = LimitScene()
    minute = limit.scene.clock.now() // (60 * NS) * 60 * NS
    limit.set_facts(resets_at=minute)
    await limit.scene.clock.advance(20.0)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        assert (await limit.wait_for_status("paused")).due_at == minute + 60 * NS


async def test_an_agent_that_reports_its_limit_before_it_stops_is_awaited():
    limit = LimitScene(state="running")
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await advance_time(limit.scene, 1.0)
        assert (limit.run.status, limit.run.plan) == ("running", "")
        limit.set_facts(state="error")
        await advance_time(limit.scene, 0.0, 3)
        assert (limit.run.status, limit.run.due_at) == ("paused", limit.ends_at + 5 * NS)
        assert limit.sent_inputs == []


async def test_an_agent_that_finishes_its_work_first_is_checked_again():
    limit = LimitScene(state="running")
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await advance_time(limit.scene, 1.0, 50)
        assert (limit.run.status, limit.run.why) == ("waiting", "waiting for a time")
        limit.set_facts(state="error")
        run = await limit.wait_for_status("paused")
        assert (run.due_at, limit.sent_inputs) == (limit.ends_at + 5 * NS, [])


async def test_an_agent_that_keeps_working_despite_its_limit_gets_no_prompt():
    limit = LimitScene(state="running")
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await advance_time(limit.scene, 1.0, 800)
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why, limit.sent_inputs) == ("cancelled", "the agent is still working", [])


async def test_the_reset_time_of_the_event_is_used_if_the_agent_reports_none():
    limit = LimitScene(resets_at=None, usage_limited=False, screen=("■ You’ve hit your usage limit.",))
    row = {"rule": "codex.usage.reached", "source": "stream", "context": "■ You’ve hit your usage limit."}
    async with run_engine(limit.scene):
        limit.add_detection_of_limit(evidence={"resets_at": limit.ends_at}, captures={"try_again_at": "8:09 AM"}, **row)
        assert (await limit.wait_for_status("paused")).due_at == limit.ends_at + 5 * NS


async def test_an_agent_without_signals_yet_is_awaited():
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        limit.set_facts(state="unknown", usage_limited=False, resets_at=None)
        await advance_time(limit.scene, 30.0, HOUR // 30)
        await advance_time(limit.scene, 1.0, 20)
        assert (limit.run.status, limit.sent_inputs) == ("running", [])
        limit.set_facts(state="idle")
        await advance_time(limit.scene, 1.0, 3)
        assert limit.sent_inputs == ["proceed."]


@pytest.mark.parametrize("auto_resume", [True, False])
async def test_a_past_reset_time_continues_the_agent_at_once(auto_resume):
    limit = LimitScene()
    limit.set_facts(resets_at=limit.scene.clock.now() - 10 * 60 * NS)
    limit.scene.preferences.set_values(auto_resume=auto_resume)
    async with run_engine(limit.scene):
        began = limit.scene.clock.now()
        limit.add_detection_of_limit()
        await advance_time(limit.scene, 0.0, 5)
        assert limit.scene.clock.now() == began
        assert limit.sent_inputs == (["proceed."] if auto_resume else [])
        if not auto_resume:
            assert limit.run.status == "paused"
            assert "ended at 2026-01-01 11:50:00 UTC" in limit.run.plan


async def test_a_past_reset_time_does_not_continue_in_a_changed_pane():
    limit = LimitScene(state="waiting_approval")
    limit.set_facts(resets_at=limit.scene.clock.now() - 10 * 60 * NS)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await wait_until_ended(limit.scene)
    assert (run.status, limit.sent_inputs) == ("cancelled", [])


@pytest.mark.parametrize("ends_at", [None, 1])
async def test_without_a_recent_reset_time_a_person_decides(ends_at):
    limit = LimitScene(resets_at=ends_at)
    async with run_engine(limit.scene) as engine:
        limit.add_detection_of_limit()
        run = await limit.wait_for_status("paused")
        assert run.due_at is None and "before a person says so" in run.plan
        await engine.resume(run.id, "human:1")
        assert (await wait_until_ended(limit.scene)).status == "completed"
    assert limit.sent_inputs == ["proceed."]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"state": "running"}, "the pane changed during the pause: codex is running"),
        ({"runtime": RuntimeId(5)}, "the pane changed during the pause: another agent is in the pane"),
        ({"agent": "", "runtime": None}, "the pane changed during the pause: its agent has exited"),
    ],
)
async def test_a_pane_change_during_the_pause_cancels_the_run_at_once(facts, why):
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        limit.set_facts(**facts)
        await advance_time(limit.scene, 0.0, 3)
        assert (limit.run.status, limit.run.why, limit.sent_inputs) == ("cancelled", why, [])


@pytest.mark.parametrize(
    ("facts", "part"),
    [({"session": "other"}, "in another session"), ({"state": "waiting_approval"}, "codex is waiting_approval")],
)
async def test_a_changed_pane_gets_no_prompt(facts, part):
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        limit.set_facts(**facts)
        await limit.advance_to_reset()
        run = await wait_until_ended(limit.scene)
    assert (run.status, limit.sent_inputs) == ("cancelled", [])
    assert part in run.why


@pytest.mark.parametrize("why", ["human_typing", "composer_not_empty"])
async def test_a_typing_user_cancels_the_run(why):
    limit = LimitScene()
    limit.scene.gate.errors = [Conflict("a user is typing", details={"why": why})]
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        await limit.advance_to_reset()
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why, limit.sent_inputs) == ("cancelled", "a person uses the pane: a user is typing", [])


async def test_switching_the_workflow_off_cancels_a_paused_run():
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        limit.scene.modes.modes["handle_usage_limits"] = "off"
        limit.scene.events.publish(Event(at=0, kind="config_reloaded"))
        await advance_time(limit.scene, 0.0, 3)
        assert (limit.run.status, limit.run.why) == ("cancelled", "handle_usage_limits is switched off")


async def test_pause_on_limit_is_checked_before_and_during_the_pause():
    limit = LimitScene()
    limit.scene.preferences.set_values(pause_on_limit=False)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        assert (await wait_until_ended(limit.scene)).why == "pause_on_limit is off"
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        limit.scene.preferences.set_values(pause_on_limit=False)
        limit.scene.events.publish(Event(at=0, kind="config_reloaded"))
        await advance_time(limit.scene, 0.0, 3)
        assert (limit.run.status, limit.run.why) == (
            "cancelled",
            "the pane changed during the pause: pause_on_limit is off",
        )


async def test_without_auto_resume_the_run_waits_for_a_person():
    limit = LimitScene()
    async with run_engine(limit.scene) as engine:
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        limit.scene.preferences.set_values(auto_resume=False)
        await limit.advance_to_reset()
        run = await limit.wait_for_status("paused")
        assert run.due_at is None and run.plan.startswith("Trouble: auto_resume is off")
        assert limit.sent_inputs == []
        limit.set_facts(usage_limited=False, resets_at=None)
        await engine.resume(run.id, "human:1")
        assert (await wait_until_ended(limit.scene)).status == "completed"
    assert limit.sent_inputs == ["proceed."]


async def test_an_agent_that_continues_by_itself_gets_no_prompt():
    limit = LimitScene("claude_code", screen=(f"● Usage limit reached · {AUTO_CONTINUE_TEXT} 10:54pm · esc to cancel",))
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        assert "goes on by itself" in (await limit.wait_for_status("paused")).plan
        await advance_time(limit.scene, 30.0, HOUR // 30)
        limit.set_facts(state="running", usage_limited=False, resets_at=None)
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why) == ("completed", "the limit is over and the agent continued by itself")
    assert limit.sent_inputs == []


async def test_an_agent_that_does_not_continue_by_itself_is_left_to_a_person():
    limit = LimitScene("claude_code", screen=(f"● Usage limit reached · {AUTO_CONTINUE_TEXT} 10:54pm",))
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        await advance_time(limit.scene, 30.0, HOUR // 30 + 10)
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith("Trouble: the agent said that it goes on by itself, and did not")
    assert (run.due_at, limit.sent_inputs) == (None, [])


async def test_a_second_limit_after_the_prompt_leaves_the_plan_to_a_person():
    limit = LimitScene()
    limit.scene.gate.after_action = lambda _: limit.set_facts(state="error", usage_limited=True, resets_at=None)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        await limit.advance_to_reset()
        run = await limit.wait_for_status("paused")
        assert run.plan.startswith("Trouble: the agent was told to go on and was refused again")
        await advance_time(limit.scene, 30.0, 300)
    assert (run.due_at, limit.sent_inputs) == (None, ["proceed."])


async def test_a_later_reset_time_extends_the_pause():
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        later = limit.ends_at + 2 * HOUR * NS
        limit.set_facts(resets_at=later)
        await limit.advance_to_reset()
        run = await limit.wait_for_status("paused")
    assert (run.due_at, limit.sent_inputs) == (later + 5 * NS, [])


async def test_an_expired_approval_leaves_the_plan_to_a_person():
    limit = LimitScene()
    limit.scene.gate.errors = [NeedsApproval("question 3 expired", details={"question": 3})]
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        await limit.advance_to_reset()
        run = await limit.wait_for_status("paused")
    assert run.plan.startswith("Trouble: nobody said in time whether it may go on")
    assert (run.due_at, limit.sent_inputs) == (None, [])


@pytest.mark.parametrize(
    ("agent", "choice", "done"),
    [
        ("codex", "› 2. Keep current model", ["Keep current model", "proceed."]),
        ("gemini", "● 1. Keep trying", ["Keep trying"]),
    ],
)
async def test_the_agents_own_limit_dialog_is_closed_first(agent, choice, done):
    state = "waiting_input" if agent == "gemini" else "error"
    limit = LimitScene(agent, screen=(choice,), state=state)

    def after(action) -> None:
        is_over = agent == "gemini" or not isinstance(action, AnswerDialog)
        limit.set_facts(screen=(), **({"state": "running", "usage_limited": False} if is_over else {}))

    limit.scene.gate.after_action = after
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        await limit.advance_to_reset()
        assert (await wait_until_ended(limit.scene)).status == "completed"
    assert limit.sent_inputs == done


async def test_an_agent_that_exited_is_resumed_at_the_prompt():
    limit = LimitScene("", runtime=None, state="unknown", usage_limited=False, resets_at=None, activity="prompt")
    limit.set_facts(screen=("ERROR: You've hit your usage limit.",))
    row = {"rule": "codex.usage.reached", "source": "stream", "context": "ERROR: You've hit your usage limit."}

    def after(action) -> None:
        state = "idle" if action.text.startswith("codex") else "running"
        limit.set_facts(agent="codex", runtime=RuntimeId(9), state=state, screen=())

    limit.scene.gate.after_action = after
    async with run_engine(limit.scene):
        limit.add_detection_of_limit(agent="codex", evidence={"resets_at": limit.ends_at}, **row)
        await limit.wait_for_status("paused")
        await limit.advance_to_reset()
        assert (await wait_until_ended(limit.scene)).status == "completed"
    assert limit.sent_inputs == ["codex resume abc", "proceed."]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"state": "running", "usage_limited": False}, "the agent is still working"),
        ({"state": "idle", "usage_limited": False}, "the limit is over: the flag usage_limited is no longer there"),
    ],
)
async def test_a_limit_that_is_over_before_the_run_starts_is_ignored(facts, why):
    limit = LimitScene()
    limit.set_facts(**facts)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why, limit.sent_inputs) == ("cancelled", why, [])


async def test_the_run_continues_after_the_daemon_was_killed_in_the_pause():
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
    async with run_engine(limit.scene):
        await limit.advance_to_reset()
        assert (await wait_until_ended(limit.scene)).status == "completed"
    assert limit.sent_inputs == ["proceed."]


NOON = 1_767_268_800 * NS
KNOWN = {"run": 7, "agent": "codex", "now": NOON}


def test_a_plan_has_four_lines():
    plan = render_plan(
        LimitSituation(
            **KNOWN,
            session="abc",
            command="codex resume abc",
            cwd="/work",
            resets_at=NOON + 8040 * NS,
            due=NOON + 8045 * NS,
        )
    )
    assert plan.splitlines() == [
        "When: the usage limit of codex ends at 2026-01-01 14:14:00 UTC, in 2 h 14 min",
        "What: at 2026-01-01 14:14:05 UTC 'proceed.' is sent once in session abc, if the pane is as it was left",
        "By hand: cd /work && codex resume abc",
        "You can: `visor workflow resume 7` goes on now, `visor workflow cancel 7` drops the plan,"
        " `visor config set auto_resume false` has it wait for you",
    ]


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({}, "did not say when that ends"),
        ({}, "nothing is sent before a person says so"),
        ({}, "By hand: type 'proceed.' in the pane"),
        ({"resets_at": NOON}, "ended at 2026-01-01 12:00:00 UTC"),
        ({"goes_on_by_itself": True}, "codex goes on by itself; nothing is sent"),
        ({"problem": "it was refused"}, "Trouble: it was refused\nWhen:"),
    ],
)
def test_unknown_values_are_stated_in_the_plan(facts, part):
    assert part in render_plan(LimitSituation(**KNOWN, **facts))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3607, "1 h"), (200_000, "2 d 7 h"), (-5, "0 s")],
)
def test_a_duration_is_formatted_with_its_two_largest_units(seconds, words):
    assert format_duration(seconds * NS) == words


async def test_a_person_who_resumes_early_overrides_the_reset_time():
    limit = LimitScene("claude_code", screen=(f"● Usage limit reached · {AUTO_CONTINUE_TEXT} 10:54pm",))
    async with run_engine(limit.scene) as engine:
        limit.add_detection_of_limit()
        run = await limit.wait_for_status("paused")
        await engine.resume(run.id, "human:1")
        assert (await wait_until_ended(limit.scene)).status == "completed"
    assert limit.sent_inputs == ["proceed."]


@pytest.mark.parametrize(("moved", "is_extended"), [(59, False), (60, False), (61, True)])
async def test_a_reset_time_within_the_current_minute_is_no_later_one(moved, is_extended):
    limit = LimitScene()
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        due = (await limit.wait_for_status("paused")).due_at
        limit.set_facts(resets_at=due + moved * NS)
        await limit.scene.clock.advance((due - limit.scene.clock.now()) / NS)
        await advance_time(limit.scene, 0.0, 5)
        assert limit.sent_inputs == ([] if is_extended else ["proceed."])


@pytest.mark.parametrize(
    ("facts", "text", "is_own"),
    [
        ({"screen": (AUTO_CONTINUE_TEXT,)}, "running", True),
        ({"screen": (AUTO_CONTINUE_TEXT,)}, "idle", False),
        ({"screen": ()}, "running", False),
        ({"screen": (AUTO_CONTINUE_TEXT,), "resets_at": None}, "running", False),
    ],
)
@pytest.mark.parametrize("early", [59, 61])
async def test_only_an_agent_at_its_own_reset_time_continued_by_itself(facts, text, is_own, early):
    limit = LimitScene("claude_code", **facts)
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        await limit.wait_for_status("paused")
        await limit.scene.clock.advance((limit.ends_at - limit.scene.clock.now()) / NS - early)
        limit.set_facts(**{"state": "running"} if text == "running" else {"runtime": RuntimeId(5)})
        run = await wait_until_ended(limit.scene)
    assert (run.status == "completed") == (is_own and early < 60)
    assert limit.sent_inputs == []


async def test_a_run_that_was_paused_too_often_ends():
    limit = LimitScene()

    async def run_action(action, actor, preconditions):
        await limit.scene.clock.sleep(1.0)
        raise NeedsApproval("expired", details={"question": 3})

    limit.scene.gate.run = run_action
    async with run_engine(limit.scene) as engine:
        limit.add_detection_of_limit()
        for _ in range(20):
            run = await limit.wait_for_status("paused")
            await engine.resume(run.id, "human:1")
            await advance_time(limit.scene, 1.0, 2)
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why) == ("cancelled", "it was paused 20 times")


async def test_another_agent_in_the_pane_is_left_alone():
    limit = LimitScene(runtime=RuntimeId(5))
    limit.scene.registry = WorkflowScene(structs.replace(WORKFLOW, outlives_agent=True)).registry
    async with run_engine(limit.scene):
        limit.add_detection_of_limit()
        run = await wait_until_ended(limit.scene)
    assert (run.status, run.why, limit.sent_inputs) == ("cancelled", "another agent runs in the pane", [])


async def test_an_agent_that_exited_without_a_session_is_not_resumed():
    limit = LimitScene("", runtime=None, state="unknown", resets_at=None, activity="prompt", resume=())
    async with run_engine(limit.scene) as engine:
        limit.add_detection_of_limit(agent="codex")
        run = await limit.wait_for_status("paused")
        await engine.resume(run.id, "human:1")
        run = await wait_until_ended(limit.scene)
    assert (run.status, limit.sent_inputs) == ("cancelled", [])
    assert run.why == "the agent has exited, and how to resume its session is not known"
