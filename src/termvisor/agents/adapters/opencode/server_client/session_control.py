"""Control one opencode process through its HTTP server: answer permission requests, send prompts, interrupt turns.

Used only by the gate. Every request to the server that changes something is built here.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.keyboard import Decision
from termvisor.agents.adapters.opencode.adapter import SESSION_RESUME
from termvisor.agents.adapters.opencode.server_events import OpencodeEventRelay
from termvisor.agents.adapters.server_contract import PermissionRequest
from termvisor.errors import BadRequest, TimedOut, Unavailable

if TYPE_CHECKING:
    from termvisor.agents.adapters.opencode.server_client.server import EventServer

START_TIMEOUT_S = STOP_TIMEOUT_S = 5.0
# Maximum length of a permission request's text shown to the user. A patch may be much longer.
_MAX_SHOWN_CHARS = 20_000
_TITLE_PREFIX = "OC | "
# opencode shows session titles of up to 40 characters in the pane title, and the first 37 characters of longer ones.
_MAX_TITLE_CHARS, _CUT_TITLE_CHARS = 40, 37
HttpRequest = tuple[str, dict[str, object]]
"""Path and body of a POST request to opencode's server."""
_PERMISSION_ID = re.compile(r"per_[0-9A-Za-z]{8,64}")


class OpencodeSessionControl:
    """All sessions of one opencode process; ``session`` is the one that was active last."""

    def __init__(self, connection: "EventServer", cwd: str):
        self._connection, self._cwd = connection, cwd
        self.session = connection.relay.latest_session

    @property
    def _relay(self) -> OpencodeEventRelay:
        return self._connection.relay

    @asynccontextmanager
    async def wait_for_request(self, known_ids: Collection[str] = ()) -> AsyncIterator[PermissionRequest]:
        """Yield the oldest pending request that is not in ``known_ids``."""
        pending = self._relay.permissions.items()
        fields = next((fields for request_id, fields in pending if _is_new(request_id, known_ids)), None)
        if fields is None:
            raise TimedOut("no permission request is pending")
        yield build_permission_request(fields, self._cwd)

    async def answer_request(self, permission_request: PermissionRequest, decision: Decision) -> bool:
        request = build_permission_reply(permission_request.id, decision)
        if request is None or permission_request.id not in self._relay.permissions:
            return False
        response = await self._connection.post(*request)
        # 404: the request has been answered elsewhere.
        if not response.is_success and response.status != 404:
            raise Unavailable(f"the opencode server returned status {response.status}")
        return response.is_success

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        async with self._connection.state_changed:
            while permission_request.id in self._relay.permissions:
                await self._connection.state_changed.wait()
        return self._connection.is_connected

    def can_prompt(self, pane_title: str) -> bool:
        return bool(self._find_session_by_title(pane_title))

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        session = self._find_session_by_title(pane_title)
        request = build_prompt_request(session, prompt_text)
        if request is None or session in self._relay.statuses:
            raise BadRequest("the session in the pane is unknown or working")
        response = await self._connection.post(*request)
        if not response.is_success:
            raise BadRequest(f"the opencode server returned status {response.status}")
        return await self._wait_until(lambda: session in self._relay.statuses, START_TIMEOUT_S)

    async def stop_turn(self) -> bool | None:
        """Interrupt the only working session. Returns None if there are several; keys interrupt the one shown."""
        session = self._relay.busy_sessions[0] if len(self._relay.busy_sessions) == 1 else ""
        request = build_abort_request(session)
        if request is None:
            return None
        response = await self._connection.post(*request)
        if not response.is_success:
            raise Unavailable(f"the opencode server returned status {response.status}")
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
        """Return the session that the pane title names; empty if it is ambiguous or not all sessions are known."""
        if not pane_title.startswith(_TITLE_PREFIX) or not self._connection.has_all_sessions:
            return ""
        shown_title = pane_title.removeprefix(_TITLE_PREFIX)
        sessions = [
            session
            for session, title in self._relay.titles.items()
            if shown_title and _format_shown_title(title) == shown_title
        ]
        return sessions[0] if len(sessions) == 1 else ""


def build_permission_reply(permission_id: str, decision: Decision) -> HttpRequest | None:
    """Build the request that allows once or denies a permission. None if the id is malformed.

    ``permission_id`` is the payload field `request` of the signal.
    """
    if not _PERMISSION_ID.fullmatch(permission_id):
        return None
    return (f"/permission/{permission_id}/reply", {"reply": "once" if decision == "allow" else "reject"})


def build_abort_request(session: str) -> HttpRequest | None:
    """Build the request that interrupts a session. None if its id is malformed."""
    return (f"/session/{session}/abort", {}) if SESSION_RESUME.is_session(session) else None


def build_prompt_request(session: str, prompt_text: str) -> HttpRequest | None:
    """Build the request that starts a turn. None if the session id is malformed."""
    if not SESSION_RESUME.is_session(session):
        return None
    return f"/session/{session}/prompt_async", {"parts": [{"type": "text", "text": prompt_text}]}


def _is_new(request_id: str, known_ids: Collection[str]) -> bool:
    return request_id not in known_ids and build_permission_reply(request_id, "deny") is not None


def build_permission_request(request_fields: JsonObject, cwd: str) -> PermissionRequest:
    metadata = get_object(request_fields, "metadata")
    details = {name: _truncate_text(value) for name, value in metadata.items() if name != "command"}
    tool_input = {"patterns": request_fields.get("patterns"), **details}
    return PermissionRequest(
        id=get_str(request_fields, "id"),
        tool=get_str(request_fields, "permission") or "other",
        command=get_str(metadata, "command"),
        given=msgspec.json.encode(tool_input).decode(),
        cwd=cwd,
        session=get_str(request_fields, "sessionID"),
    )


def _truncate_text(value: object) -> object:
    return value[:_MAX_SHOWN_CHARS] + "…" if isinstance(value, str) and len(value) > _MAX_SHOWN_CHARS else value


def _format_shown_title(title: str) -> str:
    return f"{title[:_CUT_TITLE_CHARS]}…" if len(title) > _MAX_TITLE_CHARS else title
