"""Waiting for an agent's state: what `wait_for` looks at when it is told to wait for one."""

from termvisor.errors import AgentNotFound
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.state import StateName
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._pane_agents import parse_state_filter
from termvisor.ops.api.services import Services


class AgentStateMatcher:
    """An agent that comes is waited for; one that goes will not be in any state."""

    def __init__(self, services: Services, states_text: str):
        self._services, self._states_text = services, states_text
        self._states: frozenset[StateName] = parse_state_filter(states_text)
        self._agent_process: int | None = None

    async def find_agent(self, pane: PaneView) -> AgentView | None:
        """The agent, once it is in one of the states."""
        view = (await self._services.agents.list_views(pane.id)).get(pane.id)
        if self._agent_process is not None and (view is None or view.state.runtime != self._agent_process):
            raise AgentNotFound(
                f"the agent in pane {pane.id} ended before it was {self._states_text}", details={"pane": pane.id}
            )
        if view is None:
            return None
        self._agent_process = view.state.runtime
        return view if view.state.value in self._states else None
