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


class ScriptedConnection:
    """A connection with scripted answers."""

    def __init__(self, *turns: Mapping[str, object], request: dict | None = None):
        self.turns, self.waiting = list(turns), request
        self.requested_methods: list[str] = []
        self.replies: list[Mapping[str, object]] = []
        self.resolved = asyncio.Event()
        self.failures: dict[str, Exception] = {}

    @property
    def control(self) -> CodexSessionControl:
        return CodexSessionControl(self, THREAD, HastyClock())

    async def send_request(self, method: str, params: Mapping[str, object]) -> dict:
        self.requested_methods.append(method)
        assert params["threadId"] == THREAD
        if method in self.failures:
            raise self.failures[method]
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


@pytest.mark.parametrize(("decision", "reply"), [("allow", "accept"), ("deny", "cancel")])
async def test_a_request_is_answered_while_its_thread_is_followed(decision, reply):
    codex = ScriptedConnection(request=REQUEST)
    control = codex.control
    async with control.wait_for_request() as request:
        assert (request.id, request.tool, request.command, request.cwd) == ("3:i", "shell", "touch made", "/src")
        assert request.given == '{"reason":"to see"}'
        assert codex.requested_methods == ["thread/resume"]
        assert await control.answer_request(request, decision)
        assert not await control.answer_request(request, decision)
        assert await control.wait_until_answered(request)
    assert (codex.replies, codex.requested_methods[-1]) == ([{"decision": reply}], "thread/unsubscribe")


async def test_a_request_without_allow_and_deny_is_not_returned():
    codex = ScriptedConnection(request={**REQUEST, "method": "item/tool/requestUserInput"})
    with pytest.raises(TimedOut):
        async with codex.control.wait_for_request():
            raise AssertionError("that cannot be answered")
    assert codex.requested_methods == ["thread/resume", "thread/unsubscribe"]


async def test_a_prompt_starts_a_turn_or_raises():
    codex = ScriptedConnection()
    assert codex.control.can_prompt("any title")
    assert await codex.control.send_prompt("go on", "")
    codex.failures["turn/start"] = BadRequest("busy")
    with pytest.raises(BadRequest):
        await codex.control.send_prompt("go on", "")


async def test_stop_turn_interrupts_and_returns_whether_the_turn_stopped():
    codex = ScriptedConnection(RUNS, RUNS, STOPPED)
    assert await codex.control.stop_turn() is True
    assert codex.requested_methods.count("turn/interrupt") == 1
    assert await ScriptedConnection(RUNS).control.stop_turn() is False


@pytest.mark.parametrize("codex", [ScriptedConnection(STOPPED), ScriptedConnection()])
async def test_stop_turn_without_a_running_turn_returns_none(codex):
    assert await codex.control.stop_turn() is None
    assert "turn/interrupt" not in codex.requested_methods


async def test_stop_turn_does_nothing_if_turns_cannot_be_listed():
    codex = ScriptedConnection(RUNS)
    codex.failures["thread/turns/list"] = TimedOut("silent")
    assert await codex.control.stop_turn() is None
    assert "turn/interrupt" not in codex.requested_methods


def build_request(*offered, method=METHOD, number=3):
    return {"method": method, "id": number, "params": {"threadId": "t", "availableDecisions": list(offered)}}


def test_a_permission_request_is_answered_with_an_offered_decision():
    request = build_request("accept", {"acceptWithExecpolicyAmendment": {}}, "cancel")
    assert session_control.build_decision_reply(request, "allow") == {"decision": "accept"}
    assert session_control.build_decision_reply(request, "deny") == {"decision": "cancel"}
    assert session_control.build_decision_reply(build_request("accept", "decline"), "deny") == {"decision": "decline"}


def test_a_decision_that_is_not_offered_is_not_sent():
    assert session_control.build_decision_reply(build_request("cancel"), "allow") is None
    assert session_control.build_decision_reply(build_request("accept"), "deny") is None


def test_only_permission_requests_are_answered():
    assert session_control.build_decision_reply(build_request("accept", method="item/tool/call"), "allow") is None
    assert session_control.build_decision_reply({"method": METHOD, "params": {}}, "allow") is None
    assert session_control.build_decision_reply({"method": METHOD, "id": 3}, "allow") is None


def test_requests_name_their_thread():
    assert session_control.build_prompt_request("t", "go on")[1] == {
        "threadId": "t",
        "input": [{"type": "text", "text": "go on"}],
    }
    assert session_control.build_stop_request("t", "u")[1] == {"threadId": "t", "turnId": "u"}
    assert session_control.build_follow_request("t")[0] == "thread/resume"
    assert session_control.build_unfollow_request("t")[0] == "thread/unsubscribe"
