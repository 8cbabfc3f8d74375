"""The agent that lives in a pane, as the gate knows it: how to speak to it, and what its screen says. Pure."""

from functools import cache
from types import ModuleType
from typing import TypeVar

from msgspec import Struct

from termvisor import agents
from termvisor.actions import input_line as seen
from termvisor.agents.adapters.adapter import Adapter, Seen
from termvisor.agents.adapters.dialog_options import Decision, Press
from termvisor.backends.pane_control import Sight
from termvisor.model.agent.state import StateName
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen

T = TypeVar("T")


class Tenant(Struct, frozen=True, kw_only=True):
    """``state`` is what it was last known to do; ``session`` its own name of its conversation, where it told one."""

    agent: str
    runtime: RuntimeId
    pid: int = 0
    state: StateName = "unknown"
    session: str = ""


class Voice:
    """How to speak to one agent. What its channel does not have is None, as is what it cannot say surely."""

    def __init__(self, adapter: Adapter, channel: ModuleType | None):
        self._adapter, self._channel = adapter, channel

    @property
    def is_mute(self) -> bool:
        return self._channel is None or not hasattr(self._channel, "composer")

    def look(self, screen: Screen) -> Seen:
        return self._adapter.look(screen)

    def hook_answer(self, decision: Decision, message: str = "") -> str | None:
        return self._said("hook_answer", str, decision, message)

    def pick(self, screen: Screen, choice: str) -> Press | None:
        """`allow`, `deny`, or the label of a choice."""
        if choice in ("allow", "deny"):
            return self._said("answer", Press, screen, choice)
        return self._said("choose", Press, screen, choice)

    def interrupt(self, screen: Screen) -> Press | None:
        return self._said("interrupt", Press, screen)

    def leave(self, screen: Screen) -> Press | None:
        return self._said("leave", Press, screen)

    def composer(self, screen: Screen) -> str | None:
        return self._said("composer", str, screen)

    def _said(self, part: str, kind: type[T], *given: object) -> T | None:
        function = getattr(self._channel, part, None)
        said = function(*given) if function is not None else None
        return said if isinstance(said, kind) else None


@cache
def voice_of(agent: str) -> Voice | None:
    """None for an agent that is not known. A channel is the module of that name beside the adapter."""
    adapter = next((one for one in agents.load() if one.name == agent), None)
    if adapter is None:
        return None
    return Voice(adapter, agents.beside(adapter, "keyboard"))


def screen_of(pane: PaneId, sight: Sight, at: int) -> Screen:
    """What a person sees, for those who know what it means."""
    rows = [row.rstrip() for row in seen.plain(sight)]
    return Screen(
        pane=pane,
        rows=tuple(rows + [""] * (sight.height - len(rows))),
        width=sight.width,
        height=sight.height,
        cursor_x=sight.cursor_x,
        cursor_y=sight.cursor_y,
        alternate=sight.alternate,
        at=at,
    )


def written(voice: Voice, screen: Screen, sight: Sight) -> str | None:
    """What somebody wrote in its composer; None where there is none. A faint proposal was written by nobody."""
    text = voice.composer(screen)
    if not text:
        return text
    solid = {seen.squeeze(row.text): seen.squeeze(seen.solid(row)) for row in map(seen.read, sight.rows)}
    rows = [row for row in text.split("\n") if seen.squeeze(row)]
    is_faint = all(solid.get(seen.squeeze(row), "?") == "" for row in rows)
    return "" if is_faint else text
