"""Agents on the other side of something: behind ssh, in a container, in another multiplexer.

Their process is not below the pane, so only the screen can name them, and the title beside it. That is weak: it counts
only in a pane whose program carries other terminals, and when two looks in a row name the same agent. A pane that shows
another multiplexer which we watch, too, has no agent of its own: the inner pane has it.
"""

from msgspec import Struct

from termvisor.agents.state.identification import recognise
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.pane_info import Standing
from termvisor.agents.tracking.tracker import Knowing
from termvisor.clock import Clock
from termvisor.model.agent.agent_process import Runtime, RuntimeBegan, RuntimeEnded
from termvisor.model.agent.identification import SignatureInputs
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

CARRIERS = frozenset((
    "ssh", "autossh", "mosh", "mosh-client", "et", "docker", "podman", "nerdctl", "kubectl", "lxc", "incus",
    "machinectl", "distrobox", "toolbox", "tmux", "screen", "zellij", "dtach", "abduco", "wsl",
))  # fmt: skip
"""Programs that show what runs elsewhere."""
_SURE = 0.7
_APART = 2.0


class _Suspect(Struct):
    agent: str
    seen_at: float


class Afar:
    def __init__(self, knowing: Knowing, circle: Circle, clock: Clock):
        self._knowing, self._circle, self._clock = knowing, circle, clock
        self._suspects: dict[PaneId, _Suspect] = {}

    def is_due(self, one: Standing) -> bool:
        """Whether a look at this pane would tell anything new."""
        last = self._suspects.get(one.pane)
        if carrier(one.command) and not one.shows_ours:
            return last is None or self._clock.monotonic() >= last.seen_at + _APART
        self._suspects.pop(one.pane, None)
        return False

    def look(self, one: Standing, screen: Screen) -> None:
        """At a pane without an agent."""
        before = self._suspects.get(one.pane)
        agent = self._named(one, screen)
        self._suspects[one.pane] = _Suspect(agent, self._clock.monotonic())
        if agent and before is not None and before.agent == agent:
            now = self._clock.now()
            runtime = Runtime(
                id=self._knowing.new_runtime(),
                pane=one.pane,
                place=one.place,
                generation=one.generation,
                agent=agent,
                started_at=now,
            )
            self._knowing.take([RuntimeBegan(at=now, runtime=runtime)])

    def end(self, one: Standing) -> None:
        """The agent that was seen here is gone when nothing carries it any more, or looks no longer find it."""
        runtime = self._knowing.runtime_in(one.pane)
        if runtime is None or runtime.pid:
            return
        told = self._knowing.projection(runtime.id)
        is_lost = told is not None and told.state.presence == "unmanaged"
        if is_lost or one.shows_ours or not carrier(one.command):
            self._suspects.pop(one.pane, None)
            self._knowing.take([RuntimeEnded(at=self._clock.now(), runtime=runtime.id)])

    def _named(self, one: Standing, screen: Screen) -> str:
        seen = {agent: found for agent in self._circle.adapters if (found := self._circle.look(agent, screen))}
        sure = {agent: found.confidence for agent, found in seen.items() if found.rule and found.state != "unknown"}
        best = max(sure, key=lambda agent: sure[agent], default="")
        title = next((agent for agent in seen if self._circle.title_matches(agent, one.title)), "")
        poller = best if best and (sure[best] >= _SURE or best == title) else ""
        return recognise(SignatureInputs(poller_match=poller, title_match=title), one.command).agent


def carrier(command: str) -> bool:
    return command.rsplit("/", 1)[-1] in CARRIERS
