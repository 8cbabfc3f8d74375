"""Policy checks from file to verdict."""

import os

import pytest
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import PaneForeground
from termvisor.actions.policy_check import PolicyChecker, PolicyDecision, PolicyFile, build_policy_place
from termvisor.backends.pane_control import PaneViewer
from termvisor.clock import NS
from termvisor.model.action.action import AnswerAgent, SendKeys, SendText
from termvisor.model.action.approval import VerdictReason, combine_reasons
from termvisor.model.action.policy_hook import PaneContext
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity
from termvisor.policy.path_rules import PathScope
from termvisor.testing.fake_clock import NOON, FakeClock
from tests.unit.actions.test_preconditions import ME, READY, SEEN, VIEW

HUMAN = replace(ME, kind="human")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "policy.toml"


@pytest.fixture
def checker(path) -> PolicyChecker:
    return PolicyChecker(PolicyFile(str(path)), PathScope(home="/home/me"), FakeClock())


def build_send_text(words: str) -> SendText:
    return SendText(pane=PaneId(1), text=words)


async def check_text(checker: PolicyChecker, words: str, actor=HUMAN, snapshot=READY) -> str:
    return (await checker.check(build_send_text(words), actor, snapshot)).verdict.answer


async def test_without_a_file_people_may_type_and_others_require_approval(checker):
    assert await check_text(checker, "make test") == "allow"
    assert await check_text(checker, "make test", ME) == "ask"


async def test_a_dangerous_command_requires_approval(checker):
    assert await check_text(checker, "sudo rm -rf /") != "allow"
    assert await check_text(checker, "echo 'rm -rf /'") == "allow"


async def test_input_for_a_running_program_is_no_command(checker):
    running = replace(READY, view=replace(VIEW, activity=PaneActivity(kind="command", is_proven=True)))
    assert await check_text(checker, "rm -rf /", snapshot=running) == "allow"


async def test_text_for_a_shell_in_front_is_a_command_whatever_the_marks_say(checker):
    for activity in (PaneActivity(kind="command", is_proven=True), PaneActivity(kind="alt_screen")):
        nested = replace(READY, view=replace(VIEW, activity=activity), foreground=PaneForeground(7, is_shell=True))
        assert await check_text(checker, "rm -rf /", snapshot=nested) != "allow"
        assert await check_text(checker, "make test", snapshot=nested) == "allow"


async def test_marks_of_a_command_do_not_prove_what_a_shell_in_front_does(checker, path):
    path.write_text('[[rule]]\nid = "robots"\nanswer = "allow"\nwhen = { actor = ["robot"] }\n')
    running = replace(READY, view=replace(VIEW, activity=PaneActivity(kind="command", is_proven=True)))
    assert await check_text(checker, "make test", ME, running) == "allow"
    assert await check_text(checker, "make test", ME, replace(running, foreground=PaneForeground(7, True))) == "ask"


async def test_enter_runs_the_typed_command(checker):
    drafted = replace(READY, pane_state=replace(SEEN, rows=("done", "$ rm -rf ~"), cursor_x=10))
    keys = SendKeys(pane=PaneId(1), keys=("Enter",))
    assert (await checker.check(keys, HUMAN, drafted)).verdict.answer != "allow"
    assert (await checker.check(keys, HUMAN, READY)).verdict.answer == "allow"


async def test_clearing_the_input_is_allowed_for_any_typed_command(checker):
    drafted = replace(READY, pane_state=replace(SEEN, rows=("done", "$ rm -rf ~"), cursor_x=10))
    for keys, is_free in ((("C-u",), True), (("C-u", "x"), False), (("C-o",), False)):
        verdict = (await checker.check(SendKeys(pane=PaneId(1), keys=keys), HUMAN, drafted)).verdict
        assert (verdict.answer == "allow") == is_free
    assert (await checker.check(SendKeys(pane=PaneId(1), keys=("C-u",)), ME, drafted)).verdict.answer == "ask"


async def test_the_file_is_read_again_when_it_changes(checker, path):
    path.write_text('[[rule]]\nid = "none"\nanswer = "deny"\n')
    assert await check_text(checker, "make test") == "deny"
    path.write_text('[[rule]]\nid = "robots"\nanswer = "allow"\nwhen = { actor = ["robot"] }\n')
    assert await check_text(checker, "ls -la", ME) == "allow"
    assert await check_text(checker, "make test", ME) == "ask"
    path.write_text('[[rule]]\nid = "robots"\nanswer = "allow"\nwhen = { actor = ["robot"], program = ["make"] }\n')
    assert await check_text(checker, "make test", ME) == "allow"
    assert await check_text(checker, "make --eval='x:;ls'", ME) == "ask"


async def test_an_invalid_file_keeps_the_previous_policy(checker, path):
    path.write_text('[[rule]]\nid = "none"\nanswer = "deny"\n')
    assert await check_text(checker, "make test") == "deny"
    path.write_text("this is not a policy, and longer")
    assert await check_text(checker, "make test") == "deny"
    assert "was not loaded" in checker.file.problem


async def test_with_an_invalid_file_the_previous_policy_allows_nothing_by_itself(checker, path):
    path.write_text('[[rule]]\nid = "robots"\nanswer = "allow"\nwhen = { actor = ["robot"] }\n')
    assert await check_text(checker, "ls", ME) == "allow"
    path.write_text("this is not a policy, and longer")
    assert await check_text(checker, "ls", ME) == "ask"
    assert checker.explain(build_send_text("x"), ME, READY)[-1] == checker.file.problem


async def test_a_policy_file_that_was_never_valid_allows_nothing(checker, path):
    path.write_text("this is not a policy")
    assert await check_text(checker, "make test") == "deny"
    assert (await checker.preview(build_send_text("x"), HUMAN, READY)).verdict.answer == "deny"
    assert checker.explain(build_send_text("x"), HUMAN, READY) == [checker.file.problem]


async def test_a_named_pipe_as_policy_file_does_not_block_and_allows_nothing(checker, path):
    os.mkfifo(path)
    assert await check_text(checker, "make test") == "deny"
    assert "not a regular file" in checker.file.problem


async def test_a_rate_limit_denies_and_says_when_to_retry(checker):
    answers = [await check_text(checker, "true") for _ in range(31)]
    assert answers == ["allow"] * 30 + ["deny"]
    judged = await checker.check(build_send_text("true"), HUMAN, READY)
    assert judged.verdict.retry_at == NOON + 60 * NS


async def test_a_preview_counts_nothing_and_runs_no_hook(checker, path, tmp_path):
    path.write_text(f'[[hook]]\nid = "h"\nprogram = ["/bin/sh", "-c", "touch {tmp_path}/ran; exit 1"]\n')
    for _ in range(40):
        assert (await checker.preview(build_send_text("true"), HUMAN, READY)).verdict.answer == "allow"
    assert not (tmp_path / "ran").exists()
    assert any("not run in a preview" in line for line in checker.explain(build_send_text("true"), HUMAN, READY))
    assert await check_text(checker, "true") == "deny"
    assert (tmp_path / "ran").exists()


def test_the_policy_place_reports_a_typing_user():
    person = replace(READY, pane_state=replace(SEEN, viewers=(PaneViewer("/dev/pts/1", NOON - NS),)))
    assert build_policy_place(person, NOON).is_human_typing and not build_policy_place(READY, NOON).is_human_typing
    assert build_policy_place(None, NOON).pane is None


async def test_a_decision_carries_the_settings_of_the_policy(checker, path):
    path.write_text("human_typing_override = true\nunproven_prompt = true\n[approval]\nexpiry = 90\n")
    for decision in (
        await checker.check(build_send_text("make"), HUMAN, READY),
        await checker.preview(build_send_text("make"), HUMAN, READY),
    ):
        assert decision == PolicyDecision(
            action=build_send_text("make"),
            verdict=decision.verdict,
            actor=HUMAN,
            place=build_policy_place(READY, NOON),
            needs=1,
            expires_for=90.0,
            allows_unproven=True,
            allows_typing_beside_people=True,
        )


async def test_the_outcome_of_an_action_denied_without_a_policy_is_reported_to_no_hook(checker, path):
    path.write_text("no policy")
    decision = await checker.check(build_send_text("make"), HUMAN, READY)
    assert (decision.actor, decision.verdict.reasons[0].id) == (HUMAN, "no_policy")
    await checker.report_outcome(decision, "denied", "")


async def test_a_text_that_is_not_submitted_is_no_command(checker):
    drafted = SendText(pane=PaneId(1), text="rm -rf /", enter=False)
    assert (await checker.check(drafted, HUMAN, READY)).verdict.answer == "allow"
    assert (await checker.check(replace(drafted, enter=True), HUMAN, READY)).verdict.answer != "allow"


async def test_a_policy_that_another_user_could_write_allows_nothing_until_it_is_repaired(checker, path):
    path.write_text("")
    assert await check_text(checker, "make test") == "allow"
    path.chmod(0o666)
    refused = await checker.check(build_send_text("make test"), HUMAN, READY)
    assert (refused.verdict.answer, "can be written by all users" in checker.file.problem) == ("deny", True)
    path.chmod(0o600)
    assert await check_text(checker, "make test") == "allow"
    path.parent.chmod(0o1777)
    assert await check_text(checker, "make test") == "deny"


async def test_a_policy_that_cannot_be_trusted_denies_with_a_reason_and_names_the_caller(checker, path):
    path.write_text("")
    path.chmod(0o666)
    action = build_send_text("make test")
    problem = checker.file.problem
    for decision in (await checker.check(action, HUMAN, READY), await checker.preview(action, HUMAN, READY)):
        problem = checker.file.problem
        reason = VerdictReason("default", "no_policy", "deny", problem)
        assert decision == PolicyDecision(action=action, verdict=combine_reasons((reason,)), actor=HUMAN)
    assert problem.startswith("the policy was not loaded: ")
    assert checker.explain(action, HUMAN, READY) == [problem]
    await checker.report_outcome(decision, "done", "")


def test_the_place_has_every_attribute_of_the_pane():
    state = replace(SEEN, command="vim", alternate=True, viewers=(PaneViewer(client="c", typed_at=NOON),))
    facts = replace(VIEW.facts, window_name="w", pane_index=3, title="t")
    view = replace(VIEW, facts=facts, activity=PaneActivity(kind="alt_screen"))
    snapshot = replace(READY, view=view, pane_state=state, foreground=PaneForeground(7, is_shell=True))
    assert build_policy_place(snapshot, NOON) == PaneContext(
        target="local", session="work", window="w", pane=PaneId(1), pane_index=3, title="t", foreground="vim",
        is_alternate=True, activity="alt_screen", is_shell=True, is_human_typing=True,
    )  # fmt: skip
    assert build_policy_place(READY, NOON).is_proven
    assert build_policy_place(None, NOON) == PaneContext()


@pytest.mark.parametrize(
    ("own", "cwd", "is_protected"),
    [
        ("/work", "/work", True),
        ("/work", "/src", False),
        ("/home/me/project", "/src", False),
        ("/home/me/project", "", True),
    ],
)
async def test_the_request_of_an_agent_is_judged_in_its_own_folder(path, own, cwd, is_protected):
    checker = PolicyChecker(PolicyFile(str(path)), PathScope(home="/home/me", own_paths=(own,)), FakeClock())
    action = AnswerAgent(agent="codex", tool="shell", command="tee made", cwd=cwd, request="r", pane=PaneId(1))
    decision = await checker.preview(action, replace(ME, kind="agent", name="codex"), READY)
    assert ("never_written" in [reason.id for reason in decision.verdict.reasons]) == is_protected
    assert decision.place.agent == "codex"
