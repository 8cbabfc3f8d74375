"""An Utterance is what a person or an agent said in a conversation, as the agent itself wrote it down."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import PaneId, RuntimeId

MessageRole = Literal["user", "assistant"]
MESSAGE_ROLES: tuple[MessageRole, ...] = ("user", "assistant")


class TranscriptMessage(Struct, frozen=True, kw_only=True):
    """``key`` is the same for the same words of a session, however often they are read."""

    pane: PaneId
    runtime: RuntimeId
    agent: str
    session: str
    role: MessageRole
    key: str
    at: int
    text: str
