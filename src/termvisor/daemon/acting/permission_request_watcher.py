"""Agents that wait for a permission: each is heard by the best way there is, and its question stands in the inbox.

In: that an agent waits. Out: an action for the gate, and its answer back to the agent. What a hook brings comes by
itself; here are the others. An agent that waits no longer takes its question with it.
"""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from termvisor.bus import Subscription
from termvisor.daemon.acting.approval_notifications import build_actor
from termvisor.daemon.components import Components
from termvisor.errors import BadRequest, Conflict, NotFound, TimedOut, Unavailable, VisorError
from termvisor.log import get_logger
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.state import StateChange
from termvisor.model.ids import RuntimeId

if TYPE_CHECKING:
    from collections.abc import Callable

    from termvisor.actions.permission_requests import (
        DialogPermissionRequest,
        PermissionDependencies,
        RequestEnd,
        WaitingAgent,
    )
    from termvisor.daemon.services.gate import GateComponents

WAITING_STATE = "waiting_approval"
_MAYBE_WAITING_STATES = (WAITING_STATE, "unknown")
_HOOK_GRACE_S = 1.0
"""Seconds that a hook has to be the first: then it is heard already what the agent asks."""
_RETRY_DELAY_S = 1.0
_MAX_RETRY_DELAY_S = 60.0
"""Seconds until an agent that waits on, though it was dealt with, is asked whether it waits for something else."""
_SERVER_GRACE_S = 10.0
"""Seconds that an agent's own server has to be heard, before the keys of its dialog are the way."""
log = get_logger("pleas")


class PermissionRequestWatcher:
    """``behind`` is what acts, loaded when the first agent asks; ``panes`` what the gate knows of them."""

    def __init__(self, components: Components, gate_components: "Callable[[], GateComponents]"):
        self._components, self._gate_components = components, gate_components
        self._tracker = components.agent_tracking.tracker
        self._handled_agents: set[RuntimeId] = set()

    async def run(self) -> None:
        """Until it is cancelled."""
        with self._tracker.state_changes.subscribe() as news:
            async with asyncio.TaskGroup() as group:
                for runtime in self._tracker.agents_by_pane.values():
                    self._start_handling(group, runtime)
                while True:
                    change = await news.get()
                    here = self._tracker.find_agent_in_pane(change.after.pane)
                    if here is not None and change.after.value == WAITING_STATE:
                        self._start_handling(group, here)

    def _start_handling(self, group: asyncio.TaskGroup, agent_process: AgentProcess) -> None:
        if (
            self._is_waiting(agent_process)
            and agent_process.id not in self._handled_agents
            and self._components.settings.agent_inbox != "off"
        ):
            self._handled_agents.add(agent_process.id)
            group.create_task(self._handle_agent(agent_process))

    async def _handle_agent(self, agent_process: AgentProcess) -> None:
        """As long as it waits. What was answered here, or by nobody in time, is not asked again."""
        from termvisor.actions.permission_requests import WaitingAgent

        try:
            clock, servers = self._components.clock, self._components.agent_tracking.servers
            await clock.sleep(_HOOK_GRACE_S)
            keys_from = clock.monotonic() + (_SERVER_GRACE_S if servers.has_server(agent_process) else 0.0)
            asker, pause = WaitingAgent(agent_process.agent, agent_process.pane), _RETRY_DELAY_S
            while self._is_waiting(agent_process):
                end = await self._forward_request(agent_process, asker, can_press_keys=clock.monotonic() >= keys_from)
                if end == "answered":
                    await self._wait_for_change(agent_process, pause if asker.handled_ids else None)
                    pause = min(_MAX_RETRY_DELAY_S, pause * 2)
                await self._components.clock.sleep(_RETRY_DELAY_S)
        except Exception:  # whatever is wrong with one agent, the others are heard
            log.exception("an agent's request could not be heard")
        finally:
            self._handled_agents.discard(agent_process.id)

    async def _forward_request(
        self, agent_process: AgentProcess, waiting_agent: "WaitingAgent", *, can_press_keys: bool
    ) -> "RequestEnd":
        from termvisor.actions.permission_requests import (
            PermissionDependencies,
            forward_dialog_request,
            forward_server_request,
        )

        behind = self._gate_components()
        means = PermissionDependencies(gate=behind.gate, pending=behind.permission_requests, actor=build_actor())
        line = self._components.agent_tracking.servers.find_session_control(agent_process)
        try:
            if line is not None:
                return await forward_server_request(means, line, waiting_agent)
            dialog = await self._read_dialog(agent_process, means) if can_press_keys else None
            if dialog is not None:
                return await forward_dialog_request(
                    means, behind.agent_commander, dialog, self._wait_until_resolved(agent_process)
                )
        except (Conflict, TimedOut, Unavailable, BadRequest, NotFound) as error:
            log.debug("%s in pane %d is not heard: %s", agent_process.agent, agent_process.pane, error.message)
        except VisorError as error:
            log.info("%s in pane %d is not heard: %s", agent_process.agent, agent_process.pane, error.message)
        return "lost"

    async def _read_dialog(
        self, agent_process: AgentProcess, means: "PermissionDependencies"
    ) -> "DialogPermissionRequest | None":
        """The dialog that is shown, where its keys can say yes and no, and nobody else brings the request."""
        from termvisor.actions.permission_requests import DialogPermissionRequest

        if self._components.settings.agent_inbox != "all" or means.pending.is_pending(agent_process.pane, "dialog"):
            return None
        belief = await self._gate_components().panes.take_snapshot(agent_process.pane, Preconditions())
        voice, tenant = belief.interaction, belief.agent
        if voice is None or tenant is None or tenant.runtime != agent_process.id:
            return None
        press, refusal = voice.find_choice_keys(belief.screen, "allow"), voice.find_choice_keys(belief.screen, "deny")
        if press is None or refusal is None or press.rows != refusal.rows or not press.rows:
            return None
        return DialogPermissionRequest(
            pane=agent_process.pane,
            agent=agent_process.agent,
            rows=press.rows,
            command=await self._find_requested_command(agent_process),
            session=tenant.session,
            cwd=agent_process.cwd,
        )

    async def _find_requested_command(self, agent_process: AgentProcess) -> str:
        """What the agent said that it asks for, where it did."""
        known = self._tracker.get_projection(agent_process.id)
        evidence = known.state.evidence if known is not None else None
        found = await self._components.store.agent_facts.find_signals([evidence]) if evidence is not None else {}
        return "".join(str(signal.payload.get("command", "")) for signal in found.values())

    async def _wait_until_resolved(self, agent_process: AgentProcess) -> "RequestEnd":
        with self._tracker.state_changes.subscribe() as news:
            await self._wait_while_waiting(agent_process, news)
        return "elsewhere"

    async def _wait_for_change(self, agent_process: AgentProcess, timeout_s: float | None) -> None:
        """Or so many seconds."""
        with suppress(TimeoutError), self._tracker.state_changes.subscribe() as news:
            async with asyncio.timeout(timeout_s):
                await self._wait_while_waiting(agent_process, news)

    async def _wait_while_waiting(self, agent_process: AgentProcess, news: Subscription[StateChange]) -> None:
        while self._is_waiting(agent_process, allow_unknown=True):
            await news.get()

    def _is_waiting(self, agent_process: AgentProcess, *, allow_unknown: bool = False) -> bool:
        known = self._tracker.get_projection(agent_process.id)
        here = self._tracker.find_agent_in_pane(agent_process.pane)
        if known is None or here is None or here.id != agent_process.id:
            return False
        return known.state.value in (_MAYBE_WAITING_STATES if allow_unknown else (WAITING_STATE,))
