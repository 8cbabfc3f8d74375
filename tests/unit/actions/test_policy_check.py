"""Policy checks from file to verdict."""

import os

import pytest
from msgspec.structs import replace

from termvisor.actions.policy_check import PolicyChecker, PolicyFile, build_policy_place
from termvisor.backends.pane_control import PaneViewer
from termvisor.clock import NS
from termvisor.model.action.action import SendKeys, SendText
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
def judge(path) -> PolicyChecker:
    return PolicyChecker(PolicyFile(str(path)), PathScope(home="/home/me"), FakeClock())


def text(words: str) -> SendText:
    return SendText(pane=PaneId(1), text=words)


async def answer(judge: PolicyChecker, words: str, actor=HUMAN, belief=READY) -> str:
    return (await judge.check(text(words), actor, belief)).verdict.answer


async def test_without_a_file_people_may_type_and_others_require_approval(judge):
    assert await answer(judge, "make test") == "allow"
    assert await answer(judge, "make test", ME) == "ask"


async def test_a_dangerous_command_requires_approval(judge):
    assert await answer(judge, "sudo rm -rf /") != "allow"
    assert await answer(judge, "echo 'rm -rf /'") == "allow"


async def test_input_for_a_running_program_is_no_command(judge):
    running = replace(READY, view=replace(VIEW, activity=PaneActivity(kind="command", is_proven=True)))
    assert await answer(judge, "rm -rf /", belief=running) == "allow"


async def test_enter_runs_the_typed_command(judge):
    drafted = replace(READY, pane_state=replace(SEEN, rows=("done", "$ rm -rf ~"), cursor_x=10))
    keys = SendKeys(pane=PaneId(1), keys=("Enter",))
    assert (await judge.check(keys, HUMAN, drafted)).verdict.answer != "allow"
    assert (await judge.check(keys, HUMAN, READY)).verdict.answer == "allow"


async def test_clearing_the_input_is_allowed_for_any_typed_command(judge):
    drafted = replace(READY, pane_state=replace(SEEN, rows=("done", "$ rm -rf ~"), cursor_x=10))
    for keys, is_free in ((("C-u",), True), (("C-u", "x"), False), (("C-o",), False)):
        verdict = (await judge.check(SendKeys(pane=PaneId(1), keys=keys), HUMAN, drafted)).verdict
        assert (verdict.answer == "allow") == is_free
    assert (await judge.check(SendKeys(pane=PaneId(1), keys=("C-u",)), ME, drafted)).verdict.answer == "ask"


async def test_the_file_is_read_again_when_it_changes(judge, path):
    path.write_text('[[rule]]\nid = "none"\nanswer = "deny"\n')
    assert await answer(judge, "make test") == "deny"
    path.write_text('[[rule]]\nid = "robots"\nanswer = "allow"\nwhen = { actor = ["robot"] }\n')
    assert await answer(judge, "make test", ME) == "allow"


async def test_an_invalid_file_keeps_the_previous_policy(judge, path):
    path.write_text('[[rule]]\nid = "none"\nanswer = "deny"\n')
    assert await answer(judge, "make test") == "deny"
    path.write_text("this is not a policy, and longer")
    assert await answer(judge, "make test") == "deny"
    assert "was not loaded" in judge.file.problem


async def test_a_file_that_was_broken_from_the_start_allows_nothing(judge, path):
    path.write_text("this is not a policy")
    assert await answer(judge, "make test") == "deny"
    assert (await judge.preview(text("x"), HUMAN, READY)).verdict.answer == "deny"
    assert judge.explain(text("x"), HUMAN, READY) == [judge.file.problem]


async def test_a_named_pipe_as_policy_file_does_not_block_and_allows_nothing(judge, path):
    os.mkfifo(path)
    assert await answer(judge, "make test") == "deny"
    assert "not a regular file" in judge.file.problem


async def test_a_rate_limit_denies_and_says_when_to_retry(judge):
    answers = [await answer(judge, "true") for _ in range(31)]
    assert answers == ["allow"] * 30 + ["deny"]
    judged = await judge.check(text("true"), HUMAN, READY)
    assert judged.verdict.retry_at is not None and NOON < judged.verdict.retry_at <= NOON + 3 * NS


async def test_a_preview_counts_nothing_and_runs_no_hook(judge, path, tmp_path):
    path.write_text(f'[[hook]]\nid = "h"\nprogram = ["/bin/sh", "-c", "touch {tmp_path}/ran; exit 1"]\n')
    for _ in range(40):
        assert (await judge.preview(text("true"), HUMAN, READY)).verdict.answer == "allow"
    assert not (tmp_path / "ran").exists()
    assert any("not run in a preview" in line for line in judge.explain(text("true"), HUMAN, READY))
    assert await answer(judge, "true") == "deny"
    assert (tmp_path / "ran").exists()


def test_the_policy_place_reports_a_typing_user():
    person = replace(READY, pane_state=replace(SEEN, viewers=(PaneViewer("/dev/pts/1", NOON - NS),)))
    assert build_policy_place(person, NOON).is_human_typing and not build_policy_place(READY, NOON).is_human_typing
    assert build_policy_place(None, NOON).pane is None
