"""What was said to Claude Code and by it, from its transcript. Tools' results and sub-agents are left out."""

from collections.abc import Iterator

import msgspec

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.claude_code.transcript import INTERACTIVE, INTERRUPTED, Line, said
from termvisor.agents.adapters.json_access import BROKEN, moment
from termvisor.agents.adapters.transcript_text import Words, digest

_SYNTHETIC = ("system",)


def words(record: Record) -> Iterator[Words]:
    try:
        line = msgspec.json.decode(record.text, type=Line)
    except BROKEN:
        return
    message = line.message
    if message is None or line.is_sidechain or line.is_meta or line.entrypoint not in INTERACTIVE:
        return
    text = said(message.content)
    if not text.strip() or not line.session_id:
        return
    at = moment(line.timestamp)
    if line.type == "user" and _is_prompt(line, text):
        yield Words(role="user", text=text, session=line.session_id, key=line.uuid or digest(text), at=at)
    elif line.type == "assistant" and not line.is_api_error_message:
        key = f"{message.id}:{digest(text)}"
        yield Words(role="assistant", text=text, session=line.session_id, key=key, at=at)


def _is_prompt(line: Line, text: str) -> bool:
    """What the program itself puts in a person's mouth stands in tags, or names another source."""
    is_typed = bool(line.prompt_source) or not text.startswith("<")
    return is_typed and line.prompt_source not in _SYNTHETIC and not text.startswith(INTERRUPTED)
