"""A Bookmark is how far one place of an agent's words is read. It is stored with the facts that were read there."""

from msgspec import Struct

from termvisor.model.ids import RuntimeId


class ReadPosition(Struct, frozen=True, kw_only=True):
    runtime: RuntimeId
    watch: str
    """The place, among those of this agent."""
    body: bytes
    """Only the reader of the place can read it."""
