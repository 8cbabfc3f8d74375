"""Requests as the tests of the policy write them: short, with everything usual filled in."""

from msgspec.structs import replace

from termvisor.model.action.action import Action, Actor, ActorKind, SendText
from termvisor.model.ids import PaneId
from termvisor.policy.path_rules import Scope
from termvisor.policy.request import Place, Request
from termvisor.policy.shell import Examined, examine

HOME = "/home/me"
OWN = (f"{HOME}/.config/termvisor", f"{HOME}/.local/share/termvisor")
SCOPE = Scope(home=HOME, cwd=f"{HOME}/src", own=OWN)
PROMPT = Place(
    session="work", window="main", pane=PaneId(7), foreground="bash", activity="prompt", is_proven=True, title="api"
)


def actor(kind: ActorKind = "robot", name: str = "") -> Actor:
    return Actor(kind=kind, uid=1000, pid=42, name=name)


def asks(action: Action, kind: ActorKind = "robot", **given: object) -> Request:
    return replace(Request(action=action, actor=actor(kind), place=PROMPT, scope=SCOPE, at=10**18), **given)


def command(text: str, kind: ActorKind = "robot", **given: object) -> Request:
    """Text with Enter at the prompt of a shell."""
    return asks(SendText(pane=PaneId(7), text=text), kind, is_command=True, **given)


def look(text: str, shell: str = "bash") -> Examined:
    return examine(text, SCOPE, shell)


def classes(text: str, shell: str = "bash") -> set[str]:
    return set(look(text, shell).classes)
