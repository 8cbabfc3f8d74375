"""A message of the user or the agent in a session, from the agent's own transcript."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import PaneId, RuntimeId

MessageRole = Literal["user", "assistant"]
MESSAGE_ROLES: tuple[MessageRole, ...] = ("user", "assistant")


class TranscriptMessage(Struct, frozen=True, kw_only=True):
    """``key`` is equal for the same message of a session, however often it is read."""

    pane: PaneId
    runtime: RuntimeId
    agent: str
    session: str
    role: MessageRole
    key: str
    at: int
    text: str
