"""Identify the agent in a pane and report the evidence: process, command, screen, title and handshake."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.state.identification import build_handshake_signature, identify_agent
from termvisor.agents.tracking import PaneInfo
from termvisor.daemon.components import Components
from termvisor.model.agent.identification import AgentSignature, SignatureInputs
from termvisor.model.agent.state import AgentState

_SELF_IDENTIFIED_BINDINGS = ("managed_deterministic_fresh", "managed_deterministic_stale")
_MAX_CACHED_NAMES = 1024
"""Entries per cache before it is cleared."""


class PaneIdentifier(Struct):
    """Match commands and titles to agents; both are cached, because listings ask for all panes at once."""

    components: Components
    _agents_by_command: dict[str, str] = {}
    _agents_by_title: dict[str, str] = {}

    def identify(self, pane_info: PaneInfo, state: AgentState | None = None) -> AgentSignature:
        """Return the signature of a pane; ``state`` is the state of its agent, if it has one."""
        tracking = self.components.agent_tracking
        agent_process = tracking.tracker.find_agent_in_pane(pane_info.pane)
        inputs = SignatureInputs(
            provider_hint=agent_process.agent if agent_process is not None and agent_process.pid else "",
            cmd_match=self._match_command(pane_info.command),
            poller_match=tracking.signal_reader.get_agent_on_screen(agent_process) if agent_process is not None else "",
            title_match=self._match_title(pane_info.title),
        )
        if state is not None and state.binding in _SELF_IDENTIFIED_BINDINGS:
            return build_handshake_signature(state.agent, inputs)
        return identify_agent(inputs, pane_info.command)

    def _match_command(self, command: str) -> str:
        registry = self.components.agent_tracking.adapter_registry
        if command not in self._agents_by_command:
            processes = [ProcessInfo(pid=1, program=command, argv=(command,))]
            match = next((agent for agent in registry.adapters if registry.find_process(agent, processes)), "")
            _add_to_cache(self._agents_by_command, command, match)
        return self._agents_by_command[command]

    def _match_title(self, title: str) -> str:
        registry = self.components.agent_tracking.adapter_registry
        if title not in self._agents_by_title:
            match = next((agent for agent in registry.adapters if registry.is_title_match(agent, title)), "")
            _add_to_cache(self._agents_by_title, title, match if title else "")
        return self._agents_by_title[title]


def _add_to_cache(cache: dict[str, str], text: str, agent: str) -> None:
    if len(cache) >= _MAX_CACHED_NAMES:
        cache.clear()
    cache[text] = agent
