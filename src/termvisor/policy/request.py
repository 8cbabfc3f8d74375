"""The input of the policy: everything that a verdict depends on, collected by the caller. Keys count as text."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.action.action import (
    Action,
    Actor,
    AnswerAgent,
    RunJob,
    RunProgram,
    SendJobInput,
    SendKeys,
    SendText,
    Spawn,
    find_action_pane,
    get_action_kind,
)
from termvisor.model.action.policy_hook import PaneContext
from termvisor.model.ids import PaneId
from termvisor.policy.path_rules import PathScope, resolve_path

HookDecision = Literal["allow", "deny", "modify", "failed"]
TEXT_BY_KEY = {"Enter": "\n", "C-m": "\n", "C-j": "\n", "KPEnter": "\n", "Space": " "}
ENTER_KEYS = frozenset(key for key, text in TEXT_BY_KEY.items() if text == "\n")
_KEY_NAME = re.compile(
    r"^(?:(?:[CMS]-)+.+|\^.|Up|Down|Left|Right|Home|End|PageUp|PgUp|PPage|PageDown|PgDn|NPage|B?Tab|BSpace|Escape|F\d+|IC"
    r"|Insert|DC|Delete|Enter|Space|KP.+|Any|None)$"
)


# The pane attribute that a protected pattern such as `session:prod*` matches.
PROTECTED_NAME_KINDS = ("session", "window", "title", "target", "agent", "foreground", "pane")


class LocalTime(Struct, frozen=True):
    """The user's local time. Monday is 0, and ``minute`` counts from midnight."""

    weekday: int = 0
    minute: int = 0


class HookAnswer(Struct, frozen=True):
    """A hook's answer; ``failed`` after a crash, a timeout or an invalid answer."""

    id: str
    decision: HookDecision
    reason: str = ""


class RateWindow(Struct, frozen=True):
    """The times of the counted actions, in ns since 1970, oldest first. Those older than a minute are dropped."""

    counted_at: tuple[int, ...] = ()


EMPTY_WINDOW = RateWindow()


class PolicyRequest(Struct, frozen=True, kw_only=True):
    """An action with its context.

    ``is_command`` is true if a shell at its prompt would run the sent text, even if that is only likely.
    ``standing`` is the text already typed at the prompt; None if unknown. The caller must verify the actor's kind:
    an agent that runs the command line is not a human.
    """

    action: Action
    actor: Actor
    place: PaneContext = PaneContext()
    is_command: bool = False
    standing: str | None = None
    at: int = 0
    local: LocalTime = LocalTime()
    hooks: tuple[HookAnswer, ...] = ()
    spent: Mapping[str, RateWindow] = {}
    scope: PathScope = PathScope()

    @property
    def kind(self) -> str:
        return get_action_kind(self.action)

    @property
    def pane(self) -> PaneId | None:
        return self.place.pane if self.place.pane is not None else find_action_pane(self.action)


def get_command_text(request: PolicyRequest) -> str | None:
    """Return the text that a shell would run, at its prompt or for an agent; None if no shell is involved."""
    action = request.action
    if isinstance(action, AnswerAgent):
        return action.command or None
    if not request.is_command or not isinstance(action, SendText | SendKeys | SendJobInput):
        return None
    text = convert_keys_to_text(action.keys) if isinstance(action, SendKeys) else action.text
    return (request.standing or "") + text


def get_shell_name(request: PolicyRequest) -> str:
    """Return the name of the shell that would run the command; empty for an agent's request (unknown)."""
    return "" if isinstance(request.action, AnswerAgent) else request.place.foreground.lstrip("-")


def get_argv(request: PolicyRequest) -> tuple[str, ...]:
    """Return the program and arguments started without a shell; empty if there is none."""
    action = request.action
    if isinstance(action, RunProgram):
        return action.argv
    return action.command if isinstance(action, Spawn | RunJob) else ()


def resolve_scope(request: PolicyRequest) -> PathScope:
    """Return the scope for resolving the action's paths: its own folder if it has one, else the pane's."""
    action = request.action
    cwd = action.cwd if isinstance(action, RunProgram | Spawn | RunJob) else ""
    return replace(request.scope, cwd=resolve_path(cwd, request.scope)) if cwd else request.scope


def has_blind_enter(request: PolicyRequest) -> bool:
    """Return True if the keys press Enter on a line whose text is unknown or edited by other keys."""
    action = request.action
    if not request.is_command or not isinstance(action, SendKeys) or not ENTER_KEYS & {*action.keys}:
        return False
    return any(map(is_editing_key, action.keys)) or (request.standing is None and action.keys[0] in ENTER_KEYS)


def is_editing_key(key: str) -> bool:
    """Return True if the key is a named key that types no text, such as an arrow or Ctrl-W."""
    return key not in TEXT_BY_KEY and _KEY_NAME.match(key) is not None


def convert_keys_to_text(keys: tuple[str, ...]) -> str:
    """Return the text that the keys type. Enter becomes a newline; other named keys type nothing."""
    return "".join(TEXT_BY_KEY.get(key, "" if is_editing_key(key) else key) for key in keys)
