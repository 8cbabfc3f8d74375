"""What every vendor's way of speaking has in common: a request is read, a reply is told as a stream of frames."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.live.agents.model.prompt_script import ScriptedReply

Json = dict[str, Any]
Frame = bytes | float | None
"""Bytes to send, seconds to wait, or None: the line is cut here."""
NO_HEADERS: dict[str, str] = {}
"""No headers of its own."""


@dataclass(frozen=True)
class ErrorResponse:
    status: int
    body: Json
    headers: dict[str, str] = field(default_factory=dict)


class VendorApi(Protocol):
    headers: dict[str, str]

    def choose_reply(self, request: Json) -> ScriptedReply:
        """What to reply: as the prompt says, or what the program's own side questions need."""

    def build_error(self, reply: ScriptedReply) -> ErrorResponse: ...

    def stream_frames(self, request: Json, reply: ScriptedReply) -> Iterator[Frame]: ...

    def build_response(self, request: Json, reply: ScriptedReply) -> Json:
        """The reply to somebody who wants no stream."""


def encode_event(data: Json | str, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def make_id(prefix: str) -> str:
    return prefix + os.urandom(8).hex()


def extract_text(content: Any) -> str:
    """A message's text, whether it stands alone or in parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))
