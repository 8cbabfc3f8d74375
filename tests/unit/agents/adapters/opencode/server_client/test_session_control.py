"""Control of an opencode process: replies, prompts and interrupts."""

import asyncio
from collections.abc import Mapping

import pytest

from termvisor.agents.adapters.opencode.server_client import session_control
from termvisor.agents.adapters.opencode.server_client.http import HttpResponse
from termvisor.agents.adapters.opencode.server_client.session_control import (
    OpencodeSessionControl,
    build_permission_request,
)
from termvisor.agents.adapters.opencode.server_events import OpencodeEventRelay, OpencodeServerState
from termvisor.errors import BadRequest, TimedOut, Unavailable
from tests.unit.agents.adapters.opencode.test_server_events import BUSY, ME, NOW, OTHER, asks, event

SESSION_ID = "ses_000000000001"
REQUEST, SECOND = "per_1e29c4441001", "per_1e29c4441002"
LONG = "A title that is far too long for the title of a pane"


class Scripted:
    """A connection that does what it is asked to, or answers with a status."""

    def __init__(self, *events: dict, titles: Mapping[str, str] = {}):
        self.relay = OpencodeEventRelay()
        self.relay.process_server_state(
            OpencodeServerState(sessions=[{"id": name, "title": title} for name, title in titles.items()])
        )
        self.is_connected = self.has_all_sessions = True
        self.state_changed = asyncio.Condition()
        self.posted: list[tuple[str, object]] = []
        self.status = 200
        self.then: dict | None = None
        for one in events:
            self.relay.process_event(one, NOW)

    @property
    def line(self) -> OpencodeSessionControl:
        return OpencodeSessionControl(self, "/src")

    async def post(self, path: str, body: Mapping[str, object]) -> HttpResponse:
        self.posted.append((path, body))
        if self.then is not None:
            self.relay.process_event(self.then, NOW)
        async with self.state_changed:
            self.state_changed.notify_all()
        return HttpResponse(self.status)


async def test_the_oldest_that_was_not_dealt_with_waits():
    opencode = Scripted(asks(REQUEST), asks(SECOND))
    async with opencode.line.wait_for_request() as plea:
        assert plea.id == REQUEST
    async with opencode.line.wait_for_request({REQUEST}) as plea:
        assert plea.id == SECOND
    with pytest.raises(TimedOut):
        async with opencode.line.wait_for_request({REQUEST, SECOND}):
            raise AssertionError("nothing is left")


async def test_an_id_that_is_none_makes_no_address():
    with pytest.raises(TimedOut):
        async with Scripted(asks("per_../../session")).line.wait_for_request():
            raise AssertionError("that cannot be answered")


async def test_a_request_answered_elsewhere_returns_false_and_errors_raise():
    opencode = Scripted(asks(REQUEST))
    async with opencode.line.wait_for_request() as plea:
        opencode.status = 404
        assert not await opencode.line.answer_request(plea, "allow")
        opencode.status = 500
        with pytest.raises(Unavailable):
            await opencode.line.answer_request(plea, "allow")
        opencode.relay.permissions.clear()
        assert not await opencode.line.answer_request(plea, "allow")
    assert len(opencode.posted) == 2


def test_what_is_asked_is_shown_and_what_is_very_long_is_cut():
    asked = {**asks(REQUEST, diff="+" * 30_000, filepath="/src/a")["properties"], "permission": "edit"}
    plea = build_permission_request(asked, "/src")
    assert (plea.tool, plea.command, plea.cwd) == ("edit", "", "/src")
    assert '"filepath":"/src/a"' in plea.given
    assert 20_000 < len(plea.given) < 21_000


@pytest.mark.parametrize(
    ("title", "may"),
    [
        ("OC | Mend the parser", True),
        (f"OC | {LONG[:37]}…", True),
        ("OC | Twice", False),
        ("OC | Unheard of", False),
        ("OC | ", False),
        ("OpenCode", False),
        ("Mend the parser", False),
    ],
)
def test_a_prompt_goes_where_the_title_of_the_pane_leaves_no_doubt(title, may):
    titles = {ME: "Mend the parser", OTHER: LONG, "ses_000000000008": "Twice", "ses_000000000009": "Twice"}
    opencode = Scripted(titles=titles)
    assert opencode.line.can_prompt(title) is may
    opencode.has_all_sessions = False
    assert not opencode.line.can_prompt(title)


async def test_a_prompt_is_seen_to_begin_a_turn_in_the_session_that_is_shown(monkeypatch):
    monkeypatch.setattr(session_control, "START_TIMEOUT_S", 0.05)
    opencode = Scripted(titles={ME: "Mend", OTHER: "Break"})
    opencode.then = event("session.status", OTHER, status=BUSY)
    assert await opencode.line.send_prompt("go on", "OC | Break")
    assert opencode.posted == [
        (f"/session/{OTHER}/prompt_async", {"parts": [{"type": "text", "text": "go on"}]}),
    ]
    with pytest.raises(BadRequest):
        await opencode.line.send_prompt("and on", "OC | Break")
    opencode.then = None
    assert not await opencode.line.send_prompt("go on", "OC | Mend"), "nothing was seen to begin"
    opencode.status = 400
    with pytest.raises(BadRequest):
        await opencode.line.send_prompt("go on", "OC | Mend")


async def test_what_is_at_work_alone_is_stopped_and_seen_to_be(monkeypatch):
    monkeypatch.setattr(session_control, "STOP_TIMEOUT_S", 0.05)
    opencode = Scripted(event("session.status", status=BUSY))
    assert await opencode.line.stop_turn() is False
    opencode.then = event("session.idle")
    assert await opencode.line.stop_turn() is True
    assert opencode.posted == [(f"/session/{ME}/abort", {})] * 2
    assert await opencode.line.stop_turn() is None


async def test_of_two_at_work_none_is_stopped_so():
    opencode = Scripted(event("session.status", status=BUSY), event("session.status", OTHER, status=BUSY))
    assert await opencode.line.stop_turn() is None
    assert opencode.posted == []


def test_a_permission_is_answered_over_http():
    allow, deny = (
        session_control.build_permission_reply(REQUEST, "allow"),
        session_control.build_permission_reply(REQUEST, "deny"),
    )
    assert allow == (f"/permission/{REQUEST}/reply", {"reply": "once"})
    assert deny is not None
    assert deny[1] == {"reply": "reject"}


def test_no_request_is_built_for_a_malformed_id():
    assert session_control.build_permission_reply("per_../../session", "allow") is None
    assert session_control.build_abort_request("x") is None
    assert session_control.build_prompt_request("ses_/x", "hello") is None


def test_a_session_takes_prompts_and_can_be_stopped():
    prompt, abort = (
        session_control.build_prompt_request(SESSION_ID, "go"),
        session_control.build_abort_request(SESSION_ID),
    )
    assert prompt is not None
    assert prompt[1] == {"parts": [{"type": "text", "text": "go"}]}
    assert abort == (f"/session/{SESSION_ID}/abort", {})
