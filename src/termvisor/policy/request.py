"""A Request is everything a verdict depends on. Whoever asks gathers it; the judge only thinks."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.action.action import (
    Action,
    Actor,
    AnswerAgent,
    RunProgram,
    SendKeys,
    SendText,
    Spawn,
    find_action_pane,
    get_action_kind,
)
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import ActivityKind
from termvisor.policy.path_rules import PathScope, resolve_path
from termvisor.policy.token_bucket import TokenBucket

HookDecision = Literal["allow", "deny", "modify", "failed"]
_TEXT_BY_KEY = {"Enter": "\n", "C-m": "\n", "C-j": "\n", "KPEnter": "\n", "Space": " "}
_KEY_NAME = re.compile(
    r"^(?:(?:[CMS]-)+.+|\^.|Up|Down|Left|Right|Home|End|PageUp|PgUp|PPage|PageDown|PgDn|NPage|B?Tab|BSpace|Escape|F\d+|IC"
    r"|Insert|DC|Delete|Enter|Space|KP.+|Any|None)$"
)
_ENTER_KEYS = frozenset(key for key, text in _TEXT_BY_KEY.items() if text == "\n")


class PaneContext(Struct, frozen=True, kw_only=True):
    """The pane that is acted on, as it was when the request was made. Titles and names are the programs' own words."""

    target: str = "local"
    session: str = ""
    window: str = ""
    pane: PaneId | None = None
    pane_index: int = 0
    title: str = ""
    agent: str = ""
    foreground: str = ""
    """The program in the foreground."""
    is_alternate: bool = False
    activity: ActivityKind = "unknown"
    is_proven: bool = False
    is_human_typing: bool = False


class LocalTime(Struct, frozen=True):
    """Where the user is: Monday is 0, ``minute`` counts from midnight."""

    weekday: int = 0
    minute: int = 0


class HookAnswer(Struct, frozen=True):
    """What a hook said; ``failed`` for a crash, a timeout or an answer that cannot be read."""

    id: str
    decision: HookDecision
    reason: str = ""


class PolicyRequest(Struct, frozen=True, kw_only=True):
    """``is_command``: a shell at its prompt would run what is sent; also where that is likely but not proven.

    What kind the actor is, is the caller's to prove: an agent that calls the command line is no human.

    ``standing`` is the text that already stands at the prompt; None where that is not known.
    """

    action: Action
    actor: Actor
    place: PaneContext = PaneContext()
    is_command: bool = False
    standing: str | None = None
    at: int = 0
    local: LocalTime = LocalTime()
    hooks: tuple[HookAnswer, ...] = ()
    spent: Mapping[str, TokenBucket] = {}
    scope: PathScope = PathScope()

    @property
    def kind(self) -> str:
        return get_action_kind(self.action)

    @property
    def pane(self) -> PaneId | None:
        return self.place.pane if self.place.pane is not None else find_action_pane(self.action)


def get_command_text(request: PolicyRequest) -> str | None:
    """The text that a shell would run, at its prompt or for an agent; None when nothing is sent to one."""
    action = request.action
    if isinstance(action, AnswerAgent):
        return action.command or None
    if not request.is_command or not isinstance(action, SendText | SendKeys):
        return None
    text = action.text if isinstance(action, SendText) else convert_keys_to_text(action.keys)
    return (request.standing or "") + text


def get_shell_name(request: PolicyRequest) -> str:
    """The shell that would run it; in an agent's pane that is not the program that is seen there."""
    return "" if isinstance(request.action, AnswerAgent) else request.place.foreground.lstrip("-")


def get_argv(request: PolicyRequest) -> tuple[str, ...]:
    """The program that is started without a shell; empty when none is."""
    action = request.action
    if isinstance(action, RunProgram):
        return action.argv
    return action.command if isinstance(action, Spawn) else ()


def resolve_scope(request: PolicyRequest) -> PathScope:
    """Paths are relative to the folder that the action names, else to that of the pane."""
    action = request.action
    cwd = action.cwd if isinstance(action, RunProgram | Spawn) else ""
    return replace(request.scope, cwd=resolve_path(cwd, request.scope)) if cwd else request.scope


def has_blind_enter(request: PolicyRequest) -> bool:
    """Whether keys run something that only the screen shows: Enter on a line that is not known, or an edited one."""
    action = request.action
    if not request.is_command or not isinstance(action, SendKeys) or not _ENTER_KEYS & {*action.keys}:
        return False
    edits = any(key not in _TEXT_BY_KEY and _KEY_NAME.match(key) for key in action.keys)
    return edits or (request.standing is None and action.keys[0] in _ENTER_KEYS)


def convert_keys_to_text(keys: tuple[str, ...]) -> str:
    """What they type: Enter is a new line, other named keys nothing; what is no key's name is typed as it stands."""
    return "".join(_TEXT_BY_KEY.get(key, "" if _KEY_NAME.match(key) else key) for key in keys)
