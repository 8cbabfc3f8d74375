"""An AuditEntry is one thing that is on record about an action: who wanted what, what was decided, what came of it."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action import Actor
from termvisor.model.event import Scalar
from termvisor.model.ids import PaneId
from termvisor.model.verdict import Verdict

Stage = Literal["judged", "asked", "answered", "intent", "outcome"]


class AuditEntry(Struct, frozen=True, kw_only=True):
    """``action`` is redacted, ``action_hash`` is of the true one. ``hash`` covers this entry and all before it."""

    id: int = 0
    at: int
    correlation: str
    stage: Stage
    kind: str
    actor: Actor
    pane: PaneId | None = None
    place: str = ""
    action: dict[str, object] = {}
    action_hash: str = ""
    verdict: Verdict | None = None
    observed: dict[str, Scalar] = {}
    outcome: str = ""
    why: str = ""
    previous: str = ""
    hash: str = ""


class BrokenChain(Struct, frozen=True):
    """The first entry that does not fit the ones before it, and how."""

    id: int
    what: str
