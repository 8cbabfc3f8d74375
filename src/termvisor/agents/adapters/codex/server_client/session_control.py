"""Control one Codex thread through its app-server: answer permission requests, send prompts, interrupt turns.

Only the gate uses it. Every request to the app-server that changes something is built here.
"""

import os
import shlex
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.server_contract import PermissionRequest
from termvisor.clock import Clock
from termvisor.errors import TimedOut, Unavailable, VisorError

STOP_TIMEOUT_S = 5.0
_POLL_INTERVAL_S = 0.1
_TOOLS_BY_METHOD = {
    "item/commandExecution/requestApproval": "shell",
    "item/fileChange/requestApproval": "apply_patch",
    "item/permissions/requestApproval": "permissions",
}
_OMITTED_FIELDS = ("threadId", "turnId", "itemId", "command", "cwd", "availableDecisions", "approvalId")
_SHELL_PROGRAMS = frozenset({"bash", "sh", "zsh", "dash"})


class CodexRequest(Struct, frozen=True):
    """A request to the app-server."""

    method: str
    params: dict[str, object]


class CodexReply(Struct, frozen=True):
    """The answer to a request that the app-server sent to all subscribers of a thread."""

    request_id: int | str
    result: dict[str, object]


class CodexConnection(Protocol):
    """A connected app-server."""

    async def send_request(self, method: str, params: Mapping[str, object]) -> JsonObject:
        """Return the server's answer. Raises BadRequest for an error; TimedOut or Unavailable if there is no answer."""

    async def wait_for_request(self, thread: str, known_ids: Collection[str] = ()) -> JsonObject:
        """Return a pending request of a subscribed thread that is not in ``known_ids``. Raises TimedOut if none."""

    async def send_reply(self, request: JsonObject, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once. Returns False if it is no longer pending."""

    async def wait_until_resolved(self, request: JsonObject) -> bool:
        """Return True when any client has answered the request; False if the connection is lost."""


class CodexSessionControl:
    """The thread that is proven to be shown in its pane."""

    def __init__(self, connection: CodexConnection, thread: str, clock: Clock):
        self._connection, self.session, self._clock = connection, thread, clock
        self._pending_requests: dict[str, JsonObject] = {}

    @asynccontextmanager
    async def wait_for_request(self, known_ids: Collection[str] = ()) -> AsyncIterator[PermissionRequest]:
        """Subscribe to the thread while waiting: only subscribers get its requests and may answer them."""
        await self._send_request(build_follow_request(self.session))
        try:
            request = await self._connection.wait_for_request(self.session, known_ids)
            if build_approval_reply(request) is None or build_denial_reply(request) is None:
                raise TimedOut("the pending request cannot be answered with allow or deny")
            permission_request = build_permission_request(request)
            self._pending_requests[permission_request.id] = request
            yield permission_request
        finally:
            with suppress(VisorError):  # the connection may be lost already
                await self._send_request(build_unfollow_request(self.session))

    async def answer_request(self, permission_request: PermissionRequest, decision: Decision) -> bool:
        request = self._pending_requests.get(permission_request.id, {})
        reply = build_approval_reply(request) if decision == "allow" else build_denial_reply(request)
        return reply is not None and await self._connection.send_reply(request, reply.result)

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        return await self._connection.wait_until_resolved(self._pending_requests.get(permission_request.id, {}))

    def can_prompt(self, pane_title: str) -> bool:
        """Return True for any title: the thread is proven by other means."""
        return True

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        answer = await self._send_request(build_prompt_request(self.session, prompt_text))
        return bool(get_str(get_object(answer, "turn"), "id"))

    async def stop_turn(self) -> bool | None:
        try:
            turn = await self._find_running_turn()
        except (TimedOut, Unavailable):  # nothing was changed yet, so the caller may use keys instead
            return None
        return await self._interrupt_turn(turn) if turn else None

    async def _interrupt_turn(self, turn: str) -> bool:
        await self._send_request(build_stop_request(self.session, turn))
        deadline = self._clock.monotonic() + STOP_TIMEOUT_S
        while self._clock.monotonic() < deadline:
            if await self._find_running_turn() != turn:
                return True
            await self._clock.sleep(_POLL_INTERVAL_S)
        return False

    async def _find_running_turn(self) -> str:
        """Return the id of the turn in progress; empty if there is none."""
        turns = (await self._send_request(build_last_turn_request(self.session))).get("data")
        turn = turns[0] if isinstance(turns, list) and turns and isinstance(turns[0], dict) else {}
        return get_str(turn, "id") if get_str(turn, "status") == "inProgress" else ""

    async def _send_request(self, request: CodexRequest) -> JsonObject:
        return await self._connection.send_request(request.method, request.params)


def build_follow_request(thread: str) -> CodexRequest:
    """Build the request that subscribes to a thread. The server then repeats its pending requests."""
    return CodexRequest("thread/resume", {"threadId": thread, "excludeTurns": True})


def build_unfollow_request(thread: str) -> CodexRequest:
    return CodexRequest("thread/unsubscribe", {"threadId": thread})


def build_prompt_request(thread: str, prompt_text: str) -> CodexRequest:
    return CodexRequest("turn/start", {"threadId": thread, "input": [{"type": "text", "text": prompt_text}]})


def build_stop_request(thread: str, turn: str) -> CodexRequest:
    return CodexRequest("turn/interrupt", {"threadId": thread, "turnId": turn})


def build_last_turn_request(thread: str) -> CodexRequest:
    """Build the request for the latest turn, in progress or ended."""
    params = {"threadId": thread, "limit": 1, "sortDirection": "desc", "itemsView": "summary"}
    return CodexRequest("thread/turns/list", params)


def build_approval_reply(request: JsonObject) -> CodexReply | None:
    """Build the reply that allows this once. None if the request is no approval or does not offer that."""
    return _build_decision_reply(request, ("accept",))


def build_denial_reply(request: JsonObject) -> CodexReply | None:
    """Build the reply that denies; like the dialog in the pane it ends the turn if that is offered."""
    return _build_decision_reply(request, ("cancel", "decline"))


def _build_decision_reply(request: JsonObject, decisions: Sequence[str]) -> CodexReply | None:
    request_id, params = request.get("id"), request.get("params")
    if (
        get_str(request, "method") not in _TOOLS_BY_METHOD
        or not isinstance(request_id, int | str)
        or not isinstance(params, dict)
    ):
        return None
    offered = params.get("availableDecisions")
    allowed = [decision for decision in decisions if not isinstance(offered, list) or decision in offered]
    return CodexReply(request_id, {"decision": allowed[0]}) if allowed else None


def build_request_id(request: JsonObject) -> str:
    """Return an id that differs for two requests of the same number on one connection."""
    return f"{request.get('id')}:{get_str(get_object(request, 'params'), 'itemId')}"


def build_permission_request(request: JsonObject) -> PermissionRequest:
    params = get_object(request, "params")
    command = params.get("command")
    rest = {name: value for name, value in params.items() if name not in _OMITTED_FIELDS and value is not None}
    return PermissionRequest(
        id=build_request_id(request),
        tool=_TOOLS_BY_METHOD.get(get_str(request, "method"), "other"),
        command=_extract_shell_script(
            shlex.join(map(str, command)) if isinstance(command, list) else get_str(params, "command")
        ),
        given=msgspec.json.encode(rest).decode() if rest else "",
        cwd=get_str(params, "cwd"),
    )


def _extract_shell_script(command: str) -> str:
    """Return the script of ``bash -lc '…'``, with which Codex runs every command: policy and user see the script."""
    try:
        words = shlex.split(command)
    except ValueError:  # unbalanced quotes
        return command
    is_shell = len(words) == 3 and os.path.basename(words[0]) in _SHELL_PROGRAMS and words[1] in ("-lc", "-c")
    return words[2] if is_shell else command
