"""Control one Codex thread through its app-server: answer permission requests, send prompts, interrupt turns.

Used only by the gate. Every request to the app-server that changes something is built here.
"""

import os
import shlex
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.keyboard import Decision
from termvisor.agents.adapters.server_contract import PermissionRequest
from termvisor.clock import Clock
from termvisor.errors import TimedOut, Unavailable, VisorError

if TYPE_CHECKING:
    from termvisor.agents.adapters.codex.server_client.server import AppServer

STOP_TIMEOUT_S = 5.0
_POLL_INTERVAL_S = 0.1
_TOOLS_BY_METHOD = {
    "item/commandExecution/requestApproval": "shell",
    "item/fileChange/requestApproval": "apply_patch",
    "item/permissions/requestApproval": "permissions",
}
_OMITTED_FIELDS = ("threadId", "turnId", "itemId", "command", "cwd", "availableDecisions", "approvalId")
RpcRequest = tuple[str, dict[str, object]]
"""Method and parameters of a request to the app-server."""
# Replies in order of preference. Like the dialog in the pane, a denial ends the turn if that is offered.
_REPLIES: dict[Decision, tuple[str, ...]] = {"allow": ("accept",), "deny": ("cancel", "decline")}
_SHELL_PROGRAMS = frozenset({"bash", "sh", "zsh", "dash"})


class CodexSessionControl:
    """Control of the thread that is proven to be shown in a pane."""

    def __init__(self, connection: "AppServer", thread: str, clock: Clock):
        self._connection, self.session, self._clock = connection, thread, clock
        self._pending_requests: dict[str, JsonObject] = {}

    @asynccontextmanager
    async def wait_for_request(self, known_ids: Collection[str] = ()) -> AsyncIterator[PermissionRequest]:
        """Wait for a request while subscribed to the thread: only subscribers get its requests and may answer them."""
        await self._send_request(build_follow_request(self.session))
        try:
            request = await self._connection.wait_for_request(self.session, known_ids)
            if not all(build_decision_reply(request, decision) for decision in _REPLIES):
                raise TimedOut("the pending request cannot be answered with allow or deny")
            permission_request = build_permission_request(request)
            self._pending_requests[permission_request.id] = request
            yield permission_request
        finally:
            with suppress(VisorError):  # the connection may be lost already
                await self._send_request(build_unfollow_request(self.session))

    async def answer_request(self, permission_request: PermissionRequest, decision: Decision) -> bool:
        request = self._pending_requests.get(permission_request.id, {})
        reply = build_decision_reply(request, decision)
        return reply is not None and await self._connection.send_reply(request, reply)

    async def wait_until_answered(self, permission_request: PermissionRequest) -> bool:
        return await self._connection.wait_until_resolved(self._pending_requests.get(permission_request.id, {}))

    def can_prompt(self, pane_title: str) -> bool:
        """Return True for any title, because the thread is proven by other means."""
        return True

    async def send_prompt(self, prompt_text: str, pane_title: str) -> bool:
        answer = await self._send_request(build_prompt_request(self.session, prompt_text))
        return bool(get_str(get_object(answer, "turn"), "id"))

    async def stop_turn(self) -> bool | None:
        try:
            turn = await self._find_running_turn()
        except (TimedOut, Unavailable):  # nothing has changed yet, so the caller may use keys instead
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

    async def _send_request(self, request: RpcRequest) -> JsonObject:
        return await self._connection.send_request(*request)


def build_follow_request(thread: str) -> RpcRequest:
    """Build the request that subscribes to a thread. The server then repeats its pending requests."""
    return ("thread/resume", {"threadId": thread, "excludeTurns": True})


def build_unfollow_request(thread: str) -> RpcRequest:
    return ("thread/unsubscribe", {"threadId": thread})


def build_prompt_request(thread: str, prompt_text: str) -> RpcRequest:
    return ("turn/start", {"threadId": thread, "input": [{"type": "text", "text": prompt_text}]})


def build_stop_request(thread: str, turn: str) -> RpcRequest:
    return ("turn/interrupt", {"threadId": thread, "turnId": turn})


def build_last_turn_request(thread: str) -> RpcRequest:
    """Build the request for the latest turn, in progress or ended."""
    params = {"threadId": thread, "limit": 1, "sortDirection": "desc", "itemsView": "summary"}
    return ("thread/turns/list", params)


def build_decision_reply(request: JsonObject, decision: Decision) -> JsonObject | None:
    """Build the reply that allows once or denies. None if the request is not an approval or does not offer that."""
    params = request.get("params")
    is_approval = get_str(request, "method") in _TOOLS_BY_METHOD and isinstance(request.get("id"), int | str)
    if not is_approval or not isinstance(params, dict):
        return None
    offered = params.get("availableDecisions")
    allowed = [reply for reply in _REPLIES[decision] if not isinstance(offered, list) or reply in offered]
    return {"decision": allowed[0]} if allowed else None


def build_request_id(request: JsonObject) -> str:
    """Return an id that differs even if two requests on one connection have the same number."""
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
    """Return the script in ``bash -lc '…'``, which Codex wraps around every command, to show the bare script."""
    try:
        words = shlex.split(command)
    except ValueError:  # unbalanced quotes
        return command
    is_shell = len(words) == 3 and os.path.basename(words[0]) in _SHELL_PROGRAMS and words[1] in ("-lc", "-c")
    return words[2] if is_shell else command
