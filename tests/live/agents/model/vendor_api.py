"""The common interface of all vendor APIs: parse a request, and stream a reply as frames."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.live.agents.model.prompt_script import ScriptedReply

Json = dict[str, Any]
Frame = bytes | float | None
"""Bytes to send, seconds to wait, or None to cut the connection."""
NO_HEADERS: dict[str, str] = {}
"""No additional headers."""


@dataclass(frozen=True)
class ErrorResponse:
    status: int
    body: Json
    headers: dict[str, str] = field(default_factory=dict)


class VendorApi(Protocol):
    headers: dict[str, str]

    def choose_reply(self, request: Json) -> ScriptedReply:
        """Return the reply: from the prompt, or for the program's own side requests."""

    def build_error(self, reply: ScriptedReply) -> ErrorResponse: ...

    def stream_frames(self, request: Json, reply: ScriptedReply) -> Iterator[Frame]: ...

    def build_response(self, request: Json, reply: ScriptedReply) -> Json:
        """Return the reply to a request without streaming."""


def encode_event(data: Json | str, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def make_id(prefix: str) -> str:
    return prefix + os.urandom(8).hex()


def extract_text(content: Any) -> str:
    """Return a message's text, from a string or from parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))
