"""Receive a permission request from an agent's server and answer exactly that request."""

import asyncio
import os

from msgspec.structs import replace

from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.permission_requests.request import RequestEnd
from termvisor.actions.preconditions import build_stale_error
from termvisor.agents.adapters.dialog_options import Decision
from termvisor.agents.adapters.server_contract import PermissionRequest, SessionControl
from termvisor.errors import TimedOut, Unavailable
from termvisor.model.action.action import AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId

_CONFIRM_TIMEOUT_S = 5.0
"""Seconds to wait until the server confirms an answer."""


class ServerRequest:
    def __init__(self, session_control: SessionControl, request: PermissionRequest, agent: str, pane: PaneId):
        self._session_control, self._request = session_control, request
        self._is_answered = False
        self.action = AnswerAgent(
            agent=agent,
            tool=request.tool,
            command=request.command,
            given=request.given,
            cwd=request.cwd,
            session=session_control.session,
            pane=pane,
            # The random part makes a repeated request a new action: an approval is valid for one request only.
            request=f"{request.id}:{os.urandom(8).hex()}",
        )

    async def allow(self, _snapshot: PaneSnapshot | None) -> Outcome:
        done = Outcome(status="done", why="answered", pane=self.action.pane, channel="native")
        try:
            if not await self._answer("allow"):
                raise build_stale_error("request_gone", "the request is no longer waiting for an answer")
            async with asyncio.timeout(_CONFIRM_TIMEOUT_S):
                is_confirmed = await self._session_control.wait_until_answered(self._request)
        except (TimeoutError, TimedOut, Unavailable):
            # The answer may have arrived all the same, so it is neither retried nor reported as failed.
            is_confirmed = False
        return done if is_confirmed else replace(done, status="unknown", why="not_confirmed")

    async def deny(self, _correlation: str) -> None:
        await self._answer("deny")

    async def wait_until_answered_elsewhere(self) -> RequestEnd:
        is_connected = await self._session_control.wait_until_answered(self._request)
        if self._is_answered:
            await asyncio.Event().wait()  # our own answer: block until the broker cancels this task
        return "elsewhere" if is_connected else "lost"

    async def _answer(self, decision: Decision) -> bool:
        self._is_answered = True
        return await self._session_control.answer_request(self._request, decision)
