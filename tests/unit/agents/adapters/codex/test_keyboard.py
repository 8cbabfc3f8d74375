import json

import pytest

from termvisor.agents.adapters.codex import keyboard as channel
from termvisor.agents.adapters.codex.screen_regions import layout_of
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from tests.unit.agents.adapters.codex.test_screen_rules import ASKED, FOOT, HITS, LIMIT, MODAL

METHOD = "item/commandExecution/requestApproval"


def request(*offered, method=METHOD, number=3):
    return {"method": method, "id": number, "params": {"threadId": "t", "availableDecisions": list(offered)}}


def screen(*rows: str) -> Screen:
    return Screen(pane=PaneId(1), rows=rows, width=100, height=40)


def test_an_approval_is_answered_with_what_is_offered():
    asked = request("accept", {"acceptWithExecpolicyAmendment": {}}, "cancel")
    assert channel.approve(asked) == channel.Reply(3, {"decision": "accept"})
    assert channel.deny(asked) == channel.Reply(3, {"decision": "cancel"})
    assert channel.deny(request("accept", "decline")) == channel.Reply(3, {"decision": "decline"})


def test_what_is_not_offered_is_not_answered():
    assert channel.approve(request("cancel")) is None
    assert channel.deny(request("accept")) is None


def test_only_approvals_are_answered():
    assert channel.approve(request("accept", method="item/tool/call")) is None
    assert channel.approve({"method": METHOD, "params": {}}) is None
    assert channel.approve({"method": METHOD, "id": 3}) is None


def test_turns_are_asked_for_by_thread():
    assert channel.prompt("t", "go on").params == {"threadId": "t", "input": [{"type": "text", "text": "go on"}]}
    assert channel.stop_turn("t", "u").params == {"threadId": "t", "turnId": "u"}
    assert channel.follow("t").method == "thread/resume"
    assert channel.unfollow("t").method == "thread/unsubscribe"


def test_keys_fit_the_dialog_that_is_open():
    rule, rows = "codex.screen.approval_asked", layout_of(ASKED).dialog
    assert channel.answer(screen(*ASKED), "allow") == channel.Press(keys=("y",), rule=rule, rows=rows)
    assert channel.answer(screen(*ASKED), "deny") == channel.Press(keys=("Escape",), rule=rule, rows=rows)
    assert any("Yes, proceed" in row for row in rows)


def test_the_dialog_about_a_limit_is_left_by_the_choice_that_changes_nothing():
    press = channel.choose(screen(LIMIT, *MODAL), "Keep current model")
    assert press is not None
    assert press.keys[-1] == "Enter"
    assert set(press.keys[:-1]) <= {"Down"}


@pytest.mark.parametrize("name", sorted(set(HITS) - {"approval_asked"}))
def test_no_other_screen_is_answered_with_keys(name):
    assert channel.approve_keys(screen(*HITS[name])) is None
    assert channel.deny_keys(screen(*HITS[name])) is None


def test_a_dialog_whose_choices_are_others_is_left_alone():
    changed = [row.replace("Yes, proceed (y)", "Yes, and never ask again (y)") for row in ASKED]
    assert channel.approve_keys(screen(*changed)) is None


def test_work_is_interrupted_only_while_it_shows():
    assert channel.interrupt(screen(*HITS["working"])) == channel.Press(
        keys=("Escape",), rule="codex.screen.working", rows=("esc to interrupt",)
    )
    assert channel.interrupt(screen(*HITS["turn_ended"])) is None
    assert channel.interrupt(screen(*ASKED)) is None


def test_what_stands_in_the_composer_is_read():
    assert channel.composer(screen("• Hello.", *FOOT)) == ""
    assert channel.composer(screen("• Hello.", "› half a thought", "", "  gpt-6 default · ~/src")) == "half a thought"
    assert channel.composer(screen(LIMIT, *MODAL)) is None
    assert channel.composer(screen("$")) is None


def test_no_key_is_ever_a_bare_enter():
    offers = [
        keys
        for choose in (
            channel.approve_keys,
            channel.deny_keys,
            channel.interrupt,
        )
        for rows in HITS.values()
        if (keys := choose(screen(*rows))) is not None
    ]
    assert {key for keys in offers for key in keys.keys} == {"y", "Escape"}


def test_it_leaves_only_from_rest():
    assert channel.leave(screen(*HITS["turn_ended"])).keys == ("C-c",)
    assert channel.leave(screen(*HITS["working"])) is None
    assert channel.leave(screen(*ASKED)) is None


def test_a_choice_is_gone_to_step_by_step():
    shown = screen(*(row.replace("3. No", "2. No") for row in ASKED))
    assert channel.choose(shown, "No, and tell Codex what to do differently (esc)").keys == ("Down", "Enter")
    assert channel.choose(shown, "no such choice") is None
    assert channel.choose(screen(*ASKED), "Yes, proceed (y)") is None


def test_what_its_hook_prints():
    told = json.loads(channel.hook_answer("deny", "Not now."))["hookSpecificOutput"]["decision"]
    assert told == {"behavior": "deny", "message": "Not now."}
