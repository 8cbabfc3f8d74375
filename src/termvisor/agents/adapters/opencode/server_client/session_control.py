"""One opencode, for the gate to speak to by its server: each wish as the request that opencode knows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.opencode import keyboard
from termvisor.agents.adapters.opencode.server_client.http import HttpResponse
from termvisor.agents.adapters.opencode.server_events import OpencodeEventRelay
from termvisor.agents.adapters.server_contract import PermissionRequest
from termvisor.errors import BadRequest, TimedOut, Unavailable

START_TIMEOUT_S = STOP_TIMEOUT_S = 5.0
_HTTP_NOT_FOUND = 404
_MAX_SHOWN_CHARS = 20_000
"""Letters of a text in a request that a person is shown; a change of files may be long."""
_TITLE_PREFIX = "OC | "
_MAX_TITLE_CHARS, _CUT_TITLE_CHARS = 40, 37
"""Letters of a session's title that the pane's title has room for; of a longer one so many stand there."""


class OpencodeConnection(Protocol):
    """A server that is heard."""

    relay: OpencodeEventRelay
    is_connected: bool
    has_all_sessions: bool
    state_changed: asyncio.Condition

    async def post(self, path: str, body: Mapping[str, object]) -> HttpResponse:
        """Raises Unavailable or TimedOut where it is not known what came of it."""


class OpencodeSessionControl:
    def __init__(self, connection: OpencodeConnection, cwd: str):
        self._connection, self._cwd = connection, cwd
        self.session = connection.relay.latest_session

    @property
    def _relay(self) -> OpencodeEventRelay:
        return self._connection.relay

    @asynccontextmanager
    async def wait_for_request(self, known_ids: Collection[str] = ()) -> AsyncIterator[PermissionRequest]:
        """The oldest."""
        waiting = next((one for name, one in self._relay.permissions.items() if _is_new(name, known_ids)), None)
        if waiting is None:
            raise TimedOut("nothing waits for leave there")
        yield build_permission_request(waiting, self._cwd)

    async def answer_request(self, permission_request: PermissionRequest, decision: Decision) -> bool:
        wish = keyboard.build_permission_reply(permission_request.id, decision)
        if wish is None or permission_request.id not in self._relay.permissions:
            return False
        answer = await self._connection.post(wish.path, wish.body)
        if not answer.is_success and answer.status != _HTTP_NOT_FOUND:
            raise Unavailable(f"its server answers with status {answer.status}")
        return answer.is_success

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        async with self._connection.state_changed:
            while permission_request.id in self._relay.permissions:
                await self._connection.state_changed.wait()
        return self._connection.is_connected

    def can_prompt(self, pane_title: str) -> bool:
        return bool(self._find_session_by_title(pane_title))

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        session = self._find_session_by_title(pane_title)
        wish = keyboard.build_prompt_request(session, prompt_text)
        if wish is None or session in self._relay.statuses:
            raise BadRequest("the session that the pane shows is not known to rest")
        answer = await self._connection.post(wish.path, wish.body)
        if not answer.is_success:
            raise BadRequest(f"its server answers with status {answer.status}")
        return await self._wait_until(lambda: session in self._relay.statuses, START_TIMEOUT_S)

    async def stop_turn(self) -> bool | None:
        """Only where one alone is at work: of several, the keys stop the one that is shown."""
        session = self._relay.busy_sessions[0] if len(self._relay.busy_sessions) == 1 else ""
        wish = keyboard.build_abort_request(session)
        if wish is None:
            return None
        answer = await self._connection.post(wish.path, wish.body)
        if not answer.is_success:
            raise Unavailable(f"its server answers with status {answer.status}")
        return await self._wait_until(lambda: session not in self._relay.statuses, STOP_TIMEOUT_S)

    async def _wait_until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s), self._connection.state_changed:
                while not condition() and self._connection.is_connected:
                    await self._connection.state_changed.wait()
        except TimeoutError:
            return False
        return condition() and self._connection.is_connected

    def _find_session_by_title(self, pane_title: str) -> str:
        """The session that the pane's title names, where no other could be meant: it changes when another is shown."""
        name = (
            pane_title.removeprefix(_TITLE_PREFIX)
            if pane_title.startswith(_TITLE_PREFIX) and self._connection.has_all_sessions
            else ""
        )
        fitting = [one for one, known in self._relay.titles.items() if name and _format_shown_title(known) == name]
        return fitting[0] if len(fitting) == 1 else ""


def _is_new(request_id: str, known_ids: Collection[str]) -> bool:
    return request_id not in known_ids and keyboard.build_permission_reply(request_id, "deny") is not None


def build_permission_request(request_fields: JsonObject, cwd: str) -> PermissionRequest:
    about = get_object(request_fields, "metadata")
    rest = {name: _truncate_text(value) for name, value in about.items() if name != "command"}
    asked = {"patterns": request_fields.get("patterns"), **rest}
    return PermissionRequest(
        id=get_str(request_fields, "id"),
        tool=get_str(request_fields, "permission") or "other",
        command=get_str(about, "command"),
        given=msgspec.json.encode(asked).decode(),
        cwd=cwd,
    )


def _truncate_text(value: object) -> object:
    return value[:_MAX_SHOWN_CHARS] + "…" if isinstance(value, str) and len(value) > _MAX_SHOWN_CHARS else value


def _format_shown_title(title: str) -> str:
    return f"{title[:_CUT_TITLE_CHARS]}…" if len(title) > _MAX_TITLE_CHARS else title
