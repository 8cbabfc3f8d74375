"""Builders of policy requests with default values."""

from msgspec.structs import replace

from termvisor.model.action.action import Action, Actor, ActorKind, SendText
from termvisor.model.ids import PaneId
from termvisor.policy.path_rules import PathScope
from termvisor.policy.request import PaneContext, PolicyRequest
from termvisor.policy.shell import CommandAnalysis, analyze_command

HOME = "/home/me"
OWN_PATHS = (f"{HOME}/.config/termvisor", f"{HOME}/.local/share/termvisor")
SCOPE = PathScope(home=HOME, cwd=f"{HOME}/src", own_paths=OWN_PATHS)
PROMPT_PANE = PaneContext(
    session="work", window="main", pane=PaneId(7), foreground="bash", activity="prompt", is_proven=True, title="api"
)


def make_actor(kind: ActorKind = "robot", name: str = "") -> Actor:
    return Actor(kind=kind, uid=1000, pid=42, name=name)


def make_request(action: Action, kind: ActorKind = "robot", **fields: object) -> PolicyRequest:
    return replace(
        PolicyRequest(action=action, actor=make_actor(kind), place=PROMPT_PANE, scope=SCOPE, at=10**18), **fields
    )


def make_command_request(text: str, kind: ActorKind = "robot", **fields: object) -> PolicyRequest:
    """Text with Enter at the prompt of a shell."""
    return make_request(SendText(pane=PaneId(7), text=text), kind, is_command=True, **fields)


def analyze_text(text: str, shell: str = "bash") -> CommandAnalysis:
    return analyze_command(text, SCOPE, shell)


def find_classes(text: str, shell: str = "bash") -> set[str]:
    return set(analyze_text(text, shell).classes)
