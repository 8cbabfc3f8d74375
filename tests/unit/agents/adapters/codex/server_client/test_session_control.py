"""Control of a Codex thread: requests, replies, prompts and interrupts."""

import asyncio
from collections.abc import Collection, Mapping

import pytest

from termvisor.agents.adapters.codex.server_client import session_control
from termvisor.agents.adapters.codex.server_client.session_control import CodexSessionControl
from termvisor.errors import BadRequest, TimedOut
from tests.unit.actions.scripted_screen import HastyClock
from tests.unit.agents.adapters.codex.app_server_messages import THREAD

METHOD = "item/commandExecution/requestApproval"
RUNS, STOPPED = {"id": "u", "status": "inProgress"}, {"id": "u", "status": "interrupted"}
REQUEST = {
    "method": "item/commandExecution/requestApproval",
    "id": 3,
    "params": {
        "threadId": THREAD,
        "turnId": "u",
        "itemId": "i",
        "command": "/bin/bash -lc 'touch made'",
        "cwd": "/src",
        "reason": "to see",
        "availableDecisions": ["accept", "cancel"],
    },
}


class Scripted:
    """A connection with the answers that a test gives it."""

    def __init__(self, *turns: Mapping[str, object], request: dict | None = None):
        self.turns, self.waiting = list(turns), request
        self.asked: list[str] = []
        self.replies: list[Mapping[str, object]] = []
        self.resolved = asyncio.Event()
        self.refuses: dict[str, Exception] = {}

    @property
    def line(self) -> CodexSessionControl:
        return CodexSessionControl(self, THREAD, HastyClock())

    async def send_request(self, method: str, params: Mapping[str, object]) -> dict:
        self.asked.append(method)
        assert params["threadId"] == THREAD
        if method in self.refuses:
            raise self.refuses[method]
        if method == "thread/turns/list":
            return {"data": [self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]] if self.turns else []}
        return {"turn": {"id": "u"}} if method == "turn/start" else {}

    async def wait_for_request(self, thread: str, known_ids: Collection[str] = ()) -> dict:
        if self.waiting is None or known_ids:
            raise TimedOut("nothing waits")
        return self.waiting

    async def send_reply(self, request: dict, result: Mapping[str, object]) -> bool:
        if request != self.waiting or self.resolved.is_set():
            return False
        self.replies.append(result)
        self.resolved.set()
        return True

    async def wait_until_resolved(self, request: dict) -> bool:
        await self.resolved.wait()
        return request == self.waiting


@pytest.mark.parametrize(("decision", "said"), [("allow", "accept"), ("deny", "cancel")])
async def test_a_request_is_answered_while_its_thread_is_followed_and_no_longer(decision, said):
    codex = Scripted(request=REQUEST)
    line = codex.line
    async with line.wait_for_request() as plea:
        assert (plea.id, plea.tool, plea.command, plea.cwd) == ("3:i", "shell", "touch made", "/src")
        assert plea.given == '{"reason":"to see"}'
        assert codex.asked == ["thread/resume"]
        assert await line.answer_request(plea, decision)
        assert not await line.answer_request(plea, decision)
        assert await line.wait_until_answered(plea)
    assert (codex.replies, codex.asked[-1]) == ([{"decision": said}], "thread/unsubscribe")


async def test_what_is_no_yes_or_no_is_left_to_its_dialog():
    codex = Scripted(request={**REQUEST, "method": "item/tool/requestUserInput"})
    with pytest.raises(TimedOut):
        async with codex.line.wait_for_request():
            raise AssertionError("that cannot be answered")
    assert codex.asked == ["thread/resume", "thread/unsubscribe"]


async def test_a_prompt_begins_a_turn_or_is_refused():
    codex = Scripted()
    assert codex.line.can_prompt("any title")
    assert await codex.line.send_prompt("go on", "")
    codex.refuses["turn/start"] = BadRequest("busy")
    with pytest.raises(BadRequest):
        await codex.line.send_prompt("go on", "")


async def test_a_turn_is_stopped_and_seen_to_be():
    codex = Scripted(RUNS, RUNS, STOPPED)
    assert await codex.line.stop_turn() is True
    assert codex.asked.count("turn/interrupt") == 1
    assert await Scripted(RUNS).line.stop_turn() is False


@pytest.mark.parametrize("codex", [Scripted(STOPPED), Scripted()])
async def test_what_rests_is_not_stopped(codex):
    assert await codex.line.stop_turn() is None
    assert "turn/interrupt" not in codex.asked


async def test_where_it_cannot_be_asked_what_it_does_nothing_is_done():
    codex = Scripted(RUNS)
    codex.refuses["thread/turns/list"] = TimedOut("silent")
    assert await codex.line.stop_turn() is None
    assert "turn/interrupt" not in codex.asked


def build_request(*offered, method=METHOD, number=3):
    return {"method": method, "id": number, "params": {"threadId": "t", "availableDecisions": list(offered)}}


def test_an_approval_is_answered_with_what_is_offered():
    asked = build_request("accept", {"acceptWithExecpolicyAmendment": {}}, "cancel")
    assert session_control.build_decision_reply(asked, "allow") == {"decision": "accept"}
    assert session_control.build_decision_reply(asked, "deny") == {"decision": "cancel"}
    assert session_control.build_decision_reply(build_request("accept", "decline"), "deny") == {"decision": "decline"}


def test_what_is_not_offered_is_not_answered():
    assert session_control.build_decision_reply(build_request("cancel"), "allow") is None
    assert session_control.build_decision_reply(build_request("accept"), "deny") is None


def test_only_approvals_are_answered():
    assert session_control.build_decision_reply(build_request("accept", method="item/tool/call"), "allow") is None
    assert session_control.build_decision_reply({"method": METHOD, "params": {}}, "allow") is None
    assert session_control.build_decision_reply({"method": METHOD, "id": 3}, "allow") is None


def test_turns_are_asked_for_by_thread():
    assert session_control.build_prompt_request("t", "go on")[1] == {
        "threadId": "t",
        "input": [{"type": "text", "text": "go on"}],
    }
    assert session_control.build_stop_request("t", "u")[1] == {"threadId": "t", "turnId": "u"}
    assert session_control.build_follow_request("t")[0] == "thread/resume"
    assert session_control.build_unfollow_request("t")[0] == "thread/unsubscribe"
