import pytest

from termvisor.agents.codex import channel
from termvisor.model.ids import PaneId
from termvisor.model.screen import Screen
from tests.unit.agents.codex.test_look import ASKED, FOOT, HITS, LIMIT, MODAL

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
    assert channel.interrupt("t", "u").params == {"threadId": "t", "turnId": "u"}
    assert channel.follow("t").method == "thread/resume"
    assert channel.unfollow("t").method == "thread/unsubscribe"
    assert channel.compact("t").method == "thread/compact/start"


def test_keys_fit_the_dialog_that_is_open():
    assert channel.approve_keys(screen(*ASKED)) == channel.Press(keys=("y",), rule="approval_asked")
    assert channel.deny_keys(screen(*ASKED)) == channel.Press(keys=("Escape",), rule="approval_asked")
    assert channel.leave_limit_dialog_keys(screen(LIMIT, *MODAL)) == channel.Press(
        keys=("Escape",), rule="limit_dialog"
    )


@pytest.mark.parametrize("name", sorted(set(HITS) - {"approval_asked"}))
def test_no_other_screen_is_answered_with_keys(name):
    assert channel.approve_keys(screen(*HITS[name])) is None
    assert channel.deny_keys(screen(*HITS[name])) is None


def test_a_dialog_whose_choices_are_others_is_left_alone():
    changed = [row.replace("Yes, proceed (y)", "Yes, and never ask again (y)") for row in ASKED]
    assert channel.approve_keys(screen(*changed)) is None


def test_work_is_interrupted_only_while_it_shows():
    assert channel.interrupt_keys(screen(*HITS["working"])) == channel.Press(keys=("Escape",), rule="working")
    assert channel.interrupt_keys(screen(*HITS["turn_ended"])) is None
    assert channel.interrupt_keys(screen(*ASKED)) is None


def test_text_is_typed_only_into_an_empty_composer():
    assert channel.may_type(screen("• Hello.", *FOOT))
    assert not channel.may_type(screen("• Hello.", "› half a thought", "", "  gpt-6 default · ~/src"))
    assert not channel.may_type(screen(LIMIT, *MODAL))
    assert not channel.may_type(screen("$"))


def test_no_key_is_ever_a_bare_enter():
    offers = [
        keys
        for choose in (
            channel.approve_keys,
            channel.deny_keys,
            channel.interrupt_keys,
            channel.leave_limit_dialog_keys,
        )
        for rows in HITS.values()
        if (keys := choose(screen(*rows))) is not None
    ]
    assert {key for keys in offers for key in keys.keys} == {"y", "Escape"}
