"""How far one watch of an agent is read; stored together with the facts that were read there."""

from msgspec import Struct

from termvisor.model.ids import RuntimeId


class ReadPosition(Struct, frozen=True, kw_only=True):
    runtime: RuntimeId
    watch: str
    """The name of the watch, unique for this agent."""
    body: bytes
    """Encoded by `agents.sources.read_positions`."""
