"""Waiting for an agent's state: what `wait_for` looks at when it is told to wait for one."""

from termvisor.errors import NoAgent
from termvisor.model.agent.session import AgentView
from termvisor.model.agent.state import StateName
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._pane_agents import states
from termvisor.ops.api.services import World


class InState:
    """An agent that comes is waited for; one that goes will not be in any state."""

    def __init__(self, world: World, wanted: str):
        self._world, self._text = world, wanted
        self._wanted: frozenset[StateName] = states(wanted)
        self._runtime: int | None = None

    async def view(self, pane: PaneView) -> AgentView | None:
        """The agent, once it is in one of the states."""
        view = (await self._world.agents.views(pane.id)).get(pane.id)
        if self._runtime is not None and (view is None or view.state.runtime != self._runtime):
            raise NoAgent(f"the agent in pane {pane.id} ended before it was {self._text}", details={"pane": pane.id})
        if view is None:
            return None
        self._runtime = view.state.runtime
        return view if view.state.value in self._wanted else None
