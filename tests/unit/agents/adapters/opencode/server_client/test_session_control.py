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
from tests.unit.agents.adapters.opencode.test_server_events import (
    BUSY,
    ME,
    NOW,
    OTHER,
    build_event,
    build_permission_event,
)

SESSION_ID = "ses_000000000001"
REQUEST, SECOND = "per_1e29c4441001", "per_1e29c4441002"
LONG = "A title that is far too long for the title of a pane"


class ScriptedConnection:
    """A connection that answers with `status` and receives `next_event` after each post."""

    def __init__(self, *events: dict, titles: Mapping[str, str] = {}):
        self.relay = OpencodeEventRelay()
        self.relay.process_server_state(
            OpencodeServerState(sessions=[{"id": name, "title": title} for name, title in titles.items()])
        )
        self.is_connected = self.has_all_sessions = True
        self.state_changed = asyncio.Condition()
        self.posted: list[tuple[str, object]] = []
        self.status = 200
        self.next_event: dict | None = None
        for one in events:
            self.relay.process_event(one, NOW)

    @property
    def control(self) -> OpencodeSessionControl:
        return OpencodeSessionControl(self, "/src")

    async def post(self, path: str, body: Mapping[str, object]) -> HttpResponse:
        self.posted.append((path, body))
        if self.next_event is not None:
            self.relay.process_event(self.next_event, NOW)
        async with self.state_changed:
            self.state_changed.notify_all()
        return HttpResponse(self.status)


async def test_the_oldest_request_that_is_not_known_is_returned():
    opencode = ScriptedConnection(build_permission_event(REQUEST), build_permission_event(SECOND))
    async with opencode.control.wait_for_request() as request:
        assert request.id == REQUEST
    async with opencode.control.wait_for_request({REQUEST}) as request:
        assert request.id == SECOND
    with pytest.raises(TimedOut):
        async with opencode.control.wait_for_request({REQUEST, SECOND}):
            raise AssertionError("nothing is left")


async def test_a_request_names_its_session_also_if_no_session_was_active_since_the_connection():
    opencode = ScriptedConnection()
    opencode.relay.process_server_state(
        OpencodeServerState(permissions=[build_permission_event(REQUEST)["properties"]])
    )
    assert opencode.control.session == ""
    async with opencode.control.wait_for_request() as request:
        assert request.session == ME


async def test_a_request_with_a_malformed_id_is_not_returned():
    with pytest.raises(TimedOut):
        async with ScriptedConnection(build_permission_event("per_../../session")).control.wait_for_request():
            raise AssertionError("that cannot be answered")


async def test_a_request_answered_elsewhere_returns_false_and_errors_raise():
    opencode = ScriptedConnection(build_permission_event(REQUEST))
    async with opencode.control.wait_for_request() as request:
        opencode.status = 404
        assert not await opencode.control.answer_request(request, "allow")
        opencode.status = 500
        with pytest.raises(Unavailable):
            await opencode.control.answer_request(request, "allow")
        opencode.relay.permissions.clear()
        assert not await opencode.control.answer_request(request, "allow")
    assert len(opencode.posted) == 2


def test_a_permission_request_has_its_input_truncated():
    fields = {
        **build_permission_event(REQUEST, diff="+" * 30_000, filepath="/src/a")["properties"],
        "permission": "edit",
    }
    request = build_permission_request(fields, "/src")
    assert (request.tool, request.command, request.cwd) == ("edit", "", "/src")
    assert '"filepath":"/src/a"' in request.given
    assert 20_000 < len(request.given) < 21_000


@pytest.mark.parametrize(
    ("title", "is_allowed"),
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
def test_a_prompt_is_possible_only_if_the_pane_title_names_one_session(title, is_allowed):
    titles = {ME: "Mend the parser", OTHER: LONG, "ses_000000000008": "Twice", "ses_000000000009": "Twice"}
    opencode = ScriptedConnection(titles=titles)
    assert opencode.control.can_prompt(title) is is_allowed
    opencode.has_all_sessions = False
    assert not opencode.control.can_prompt(title)


async def test_a_prompt_is_sent_to_the_shown_session_and_confirmed_by_its_turn(monkeypatch):
    monkeypatch.setattr(session_control, "START_TIMEOUT_S", 0.05)
    opencode = ScriptedConnection(titles={ME: "Mend", OTHER: "Break"})
    opencode.next_event = build_event("session.status", OTHER, status=BUSY)
    assert await opencode.control.send_prompt("go on", "OC | Break")
    assert opencode.posted == [
        (f"/session/{OTHER}/prompt_async", {"parts": [{"type": "text", "text": "go on"}]}),
    ]
    with pytest.raises(BadRequest):
        await opencode.control.send_prompt("and on", "OC | Break")
    opencode.next_event = None
    assert not await opencode.control.send_prompt("go on", "OC | Mend"), "no turn started"
    opencode.status = 400
    with pytest.raises(BadRequest):
        await opencode.control.send_prompt("go on", "OC | Mend")


async def test_stop_turn_aborts_the_only_busy_session_and_confirms_it(monkeypatch):
    monkeypatch.setattr(session_control, "STOP_TIMEOUT_S", 0.05)
    opencode = ScriptedConnection(build_event("session.status", status=BUSY))
    assert await opencode.control.stop_turn() is False
    opencode.next_event = build_event("session.idle")
    assert await opencode.control.stop_turn() is True
    assert opencode.posted == [(f"/session/{ME}/abort", {})] * 2
    assert await opencode.control.stop_turn() is None


async def test_stop_turn_does_nothing_with_two_busy_sessions():
    opencode = ScriptedConnection(
        build_event("session.status", status=BUSY), build_event("session.status", OTHER, status=BUSY)
    )
    assert await opencode.control.stop_turn() is None
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


def test_prompt_and_abort_requests_name_their_session():
    prompt, abort = (
        session_control.build_prompt_request(SESSION_ID, "go"),
        session_control.build_abort_request(SESSION_ID),
    )
    assert prompt is not None
    assert prompt[1] == {"parts": [{"type": "text", "text": "go"}]}
    assert abort == (f"/session/{SESSION_ID}/abort", {})
