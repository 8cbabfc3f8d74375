"""Why each pane is taken for an agent's, or is not: every trace that names one, beside what was made of it."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.state.identification import build_handshake_signature, identify_agent
from termvisor.agents.tracking import PaneInfo
from termvisor.daemon.components import Components
from termvisor.model.agent.identification import AgentSignature, SignatureInputs
from termvisor.model.agent.state import AgentState

_SELF_IDENTIFIED_BINDINGS = ("managed_deterministic_fresh", "managed_deterministic_stale")
_MAX_CACHED_NAMES = 1024
"""Commands and titles of which it is known whom they name."""


class PaneIdentifier(Struct):
    """Asked for by listings, so what a command or a title names is looked up once."""

    components: Components
    _agents_by_command: dict[str, str] = {}
    _agents_by_title: dict[str, str] = {}

    def identify(self, pane_info: PaneInfo, state: AgentState | None = None) -> AgentSignature:
        """``state`` is that of the agent in the pane, where there is one."""
        attending = self.components.agent_tracking
        runtime = attending.tracker.find_agent_in_pane(pane_info.pane)
        inputs = SignatureInputs(
            provider_hint=runtime.agent if runtime is not None and runtime.pid else "",
            cmd_match=self._match_command(pane_info.command),
            poller_match=attending.signal_reader.get_agent_on_screen(runtime) if runtime is not None else "",
            title_match=self._match_title(pane_info.title),
        )
        if state is not None and state.binding in _SELF_IDENTIFIED_BINDINGS:
            return build_handshake_signature(state.agent, inputs)
        return identify_agent(inputs, pane_info.command)

    def _match_command(self, command: str) -> str:
        circle = self.components.agent_tracking.adapter_registry
        if command not in self._agents_by_command:
            alone = [ProcessInfo(pid=1, program=command, argv=(command,))]
            named = next((agent for agent in circle.adapters if circle.find_process(agent, alone)), "")
            _remember(self._agents_by_command, command, named)
        return self._agents_by_command[command]

    def _match_title(self, title: str) -> str:
        circle = self.components.agent_tracking.adapter_registry
        if title not in self._agents_by_title:
            named = next((agent for agent in circle.adapters if circle.is_title_match(agent, title)), "")
            _remember(self._agents_by_title, title, named if title else "")
        return self._agents_by_title[title]


def _remember(cache: dict[str, str], text: str, agent: str) -> None:
    if len(cache) >= _MAX_CACHED_NAMES:
        cache.clear()
    cache[text] = agent
