"""The JSON that a policy hook reads on stdin and prints on stdout. Their schemas are in docs/json-schema."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from termvisor.model.action.action import Action, Actor
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import ActivityKind


class PaneContext(Struct, frozen=True, kw_only=True):
    """The target pane at the time of the request. Titles and names are set by programs and not trusted."""

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
    is_shell: bool = False
    """True if the foreground program is a shell that reads its input, whatever marks and titles say."""
    is_human_typing: bool = False


class HookInput(Struct, frozen=True, kw_only=True):
    """What a hook reads: the action before it is executed, or after it with its ``outcome`` and ``why``."""

    stage: Literal["before", "after"]
    kind: str
    action: Action
    actor: Actor
    place: PaneContext
    outcome: str = ""
    why: str = ""


class HookReply(Struct, frozen=True, kw_only=True):
    """What a hook prints. For `modify`, ``action`` is the whole action to run instead, of the same kind.

    The changed action is checked from the start, also by the hook: it then answers `allow`, or `modify` with the same
    action. After an action the answer is ignored.
    """

    decision: Literal["allow", "deny", "modify"]
    reason: str = ""
    action: Action | UnsetType = UNSET
