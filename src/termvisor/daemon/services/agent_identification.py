"""Why each pane is taken for an agent's, or is not: every trace that names one, beside what was made of it."""

from msgspec import Struct

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.state.identification import handshake, recognise
from termvisor.agents.tracking import Standing
from termvisor.daemon.components import Parts
from termvisor.model.agent.identification import Signature, SignatureInputs
from termvisor.model.agent.state import AgentState

_SPOKEN = ("managed_deterministic_fresh", "managed_deterministic_stale")
_REMEMBERED = 1024
"""Commands and titles of which it is known whom they name."""


class Signatures(Struct):
    """Asked for by listings, so what a command or a title names is looked up once."""

    parts: Parts
    _commands: dict[str, str] = {}
    _titles: dict[str, str] = {}

    def of(self, standing: Standing, state: AgentState | None = None) -> Signature:
        """``state`` is that of the agent in the pane, where there is one."""
        attending = self.parts.attending
        runtime = attending.knowing.runtime_in(standing.pane)
        inputs = SignatureInputs(
            provider_hint=runtime.agent if runtime is not None and runtime.pid else "",
            cmd_match=self._command(standing.command),
            poller_match=attending.hearing.seen_in(runtime) if runtime is not None else "",
            title_match=self._title(standing.title),
        )
        if state is not None and state.binding in _SPOKEN:
            return handshake(state.agent, inputs)
        return recognise(inputs, standing.command)

    def _command(self, command: str) -> str:
        circle = self.parts.attending.circle
        if command not in self._commands:
            alone = [Process(pid=1, program=command, argv=(command,))]
            named = next((agent for agent in circle.adapters if circle.recognise(agent, alone)), "")
            _keep(self._commands, command, named)
        return self._commands[command]

    def _title(self, title: str) -> str:
        circle = self.parts.attending.circle
        if title not in self._titles:
            named = next((agent for agent in circle.adapters if circle.title_matches(agent, title)), "")
            _keep(self._titles, title, named if title else "")
        return self._titles[title]


def _keep(known: dict[str, str], text: str, agent: str) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
    known[text] = agent
