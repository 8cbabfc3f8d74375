"""Watch for agents that wait for permission, and forward their requests from the agent's server or dialog.

In: state changes of agents. Out: requests to the permission broker. Hooks deliver their requests without this module,
which prefers the agent's server and falls back to its dialog.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from termvisor.daemon.acting.approval_notifications import build_actor
from termvisor.daemon.components import Components
from termvisor.errors import BadRequest, Conflict, NotFound, TimedOut, Unavailable, VisorError
from termvisor.log import get_logger
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.ids import RuntimeId

if TYPE_CHECKING:
    from collections.abc import Callable

    from termvisor.actions.permission_requests import PermissionDialog, RequestEnd
    from termvisor.agents.adapters.server_contract import SessionControl
    from termvisor.daemon.services.gate import GateComponents

WAITING_STATE = "waiting_approval"
_MAYBE_WAITING_STATES = (WAITING_STATE, "unknown")
# Seconds to wait for a hook to deliver the request, because hooks have the most details about it.
_HOOK_GRACE_S = 1.0
_RETRY_DELAY_S = 1.0
# Maximum seconds between checks for a new request from an agent that is still waiting.
_MAX_RETRY_DELAY_S = 60.0
# Seconds to wait for a connection to the agent's server before its dialog is answered with keys.
_SERVER_GRACE_S = 10.0
# The same while a request of that server is open, which would lose its number and answer to the dialog's.
_SERVER_RETURN_GRACE_S = 40.0
log = get_logger("permissions")


class PermissionRequestWatcher:
    """Watcher of waiting agents. ``get_gate_components`` builds the gate on first use, to load its modules late."""

    def __init__(self, components: Components, get_gate_components: "Callable[[], GateComponents]"):
        self._components, self._get_gate_components = components, get_gate_components
        self._tracker = components.agent_tracking.tracker
        self._handled_agents: set[RuntimeId] = set()

    async def run(self) -> None:
        """Run until cancelled."""
        with self._tracker.state_changes.subscribe() as changes:
            async with asyncio.TaskGroup() as group:
                # Agents that waited before the daemon started send no further state change.
                for agent_process in self._tracker.agents_by_pane.values():
                    self._start_handling(group, agent_process)
                while True:
                    state = (await changes.get()).after
                    current = self._tracker.find_agent_in_pane(state.pane)
                    if current is not None and state.value == WAITING_STATE:
                        self._start_handling(group, current)

    def _start_handling(self, group: asyncio.TaskGroup, agent_process: AgentProcess) -> None:
        if (
            self._is_waiting(agent_process)
            and agent_process.id not in self._handled_agents
            and self._components.settings.agent_inbox != "off"
        ):
            self._handled_agents.add(agent_process.id)
            group.create_task(self._handle_agent(agent_process))

    async def _handle_agent(self, agent_process: AgentProcess) -> None:
        """Forward each of the agent's requests once, for as long as it is waiting."""
        clock, servers = self._components.clock, self._components.agent_tracking.servers
        handled_ids: set[str] = set()
        delay = _RETRY_DELAY_S
        try:
            await clock.sleep(_HOOK_GRACE_S)
            server_seen_at = clock.monotonic()
            while self._is_waiting(agent_process):
                session_control = servers.find_session_control(agent_process)
                if session_control is not None:
                    end = await self._forward_server_request(agent_process, session_control, handled_ids)
                    server_seen_at = clock.monotonic()
                elif clock.monotonic() >= server_seen_at + self._choose_server_grace(agent_process):
                    end = await self._forward_dialog(agent_process)
                else:
                    end = "lost"
                if end == "answered":
                    with suppress(TimeoutError):
                        # A dialog has no id to distinguish it from the next one, so only a state change ends this wait.
                        async with asyncio.timeout(delay if handled_ids else None):
                            await self._wait_while_waiting(agent_process)
                    delay = min(_MAX_RETRY_DELAY_S, delay * 2)
                await clock.sleep(_RETRY_DELAY_S)
        except Exception:  # a failure with one agent must not stop the watcher for the others
            log.exception("cannot forward the permission requests of %s", agent_process.agent)
        finally:
            self._handled_agents.discard(agent_process.id)

    def _choose_server_grace(self, agent_process: AgentProcess) -> float:
        """Return the seconds for which the agent's dialog is left to its server, which is not connected."""
        if not self._components.agent_tracking.servers.has_server(agent_process):
            return 0.0
        broker = self._get_gate_components().permission_broker
        is_open = broker.has_unclaimed_from_own_channel(agent_process.pane)
        return _SERVER_RETURN_GRACE_S if is_open else _SERVER_GRACE_S

    async def _forward_server_request(
        self, agent_process: AgentProcess, session_control: "SessionControl", handled_ids: set[str]
    ) -> "RequestEnd":
        broker, (agent, pane) = self._get_gate_components().permission_broker, (agent_process.agent, agent_process.pane)
        with _log_refusal(agent_process):
            return await broker.forward_server_request(
                session_control, agent=agent, pane=pane, actor=build_actor(), handled_ids=handled_ids
            )
        return "lost"

    async def _forward_dialog(self, agent_process: AgentProcess) -> "RequestEnd":
        broker = self._get_gate_components().permission_broker
        with _log_refusal(agent_process):
            dialog = await self._find_dialog(agent_process)
            if dialog is not None:
                return await broker.forward_dialog(
                    dialog, build_actor(), lambda: self._wait_while_waiting(agent_process)
                )
        return "lost"

    async def _find_dialog(self, agent_process: AgentProcess) -> "PermissionDialog | None":
        from termvisor.actions.permission_requests import find_dialog

        gate_components = self._get_gate_components()
        is_pending = gate_components.permission_broker.pending.is_pending(agent_process.pane, "dialog")
        if self._components.settings.agent_inbox != "all" or is_pending:
            return None
        snapshot = await gate_components.panes.take_snapshot(agent_process.pane, Preconditions())
        return find_dialog(snapshot, agent_process, await self._find_requested_command(agent_process))

    async def _find_requested_command(self, agent_process: AgentProcess) -> str:
        """Return the command in the signal that set the waiting state; empty if it had none."""
        projection = self._tracker.get_projection(agent_process.id)
        evidence = projection.state.evidence if projection is not None else None
        signals = await self._components.store.agent_facts.find_signals([evidence]) if evidence is not None else {}
        return "".join(str(signal.payload.get("command", "")) for signal in signals.values())

    async def _wait_while_waiting(self, agent_process: AgentProcess) -> None:
        with self._tracker.state_changes.subscribe() as changes:
            while self._is_waiting(agent_process, allow_unknown=True):
                await changes.get()

    def _is_waiting(self, agent_process: AgentProcess, *, allow_unknown: bool = False) -> bool:
        projection = self._tracker.get_projection(agent_process.id)
        current = self._tracker.find_agent_in_pane(agent_process.pane)
        if projection is None or current is None or current.id != agent_process.id:
            return False
        return projection.state.value in (_MAYBE_WAITING_STATES if allow_unknown else (WAITING_STATE,))


@contextmanager
def _log_refusal(agent_process: AgentProcess) -> Iterator[None]:
    """Log that a request cannot be forwarded now; the caller tries again."""
    try:
        yield
    # Expected while an agent redraws its screen or is answered elsewhere.
    except (Conflict, TimedOut, Unavailable, BadRequest, NotFound) as error:
        log.debug("no permission request of %s in pane %d: %s", agent_process.agent, agent_process.pane, error.message)
    except VisorError as error:
        text = "cannot forward the permission request of %s in pane %d: %s"
        log.info(text, agent_process.agent, agent_process.pane, error.message)
