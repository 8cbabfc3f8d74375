"""Parse what the scripted model does next from the prompt.

    MODEL text <words>      say them                    MODEL fail <status>   an HTTP error of the vendor's kind
    MODEL slow <seconds>    say a word every half one   MODEL limit [seconds] the vendor's usage limit
    MODEL stall <seconds>   begin, then say nothing     MODEL cut             half an answer, then the line is cut
    MODEL shell <command>   ask to run it               MODEL tokens <count>  say that the context is so full
    MODEL write <path>      ask to write a file         MODEL tool <name> <JSON>  ask for any other tool
    MODEL until <seconds since 1970>   the vendor's usage limit, until then
    MODEL tools <name> <JSON> ;; <name> <JSON>   ask for all of them at once (Claude Code)

The last such line of the newest prompt counts. Without one the model says hello.
"""

import json
import re
import time
from dataclasses import dataclass, field
from typing import Any

_MODEL_COMMAND = re.compile(r"MODEL ([a-z]+)[ \t]*([^\n]*?)(?=MODEL |\n|</|$)")
_FILLER_WORDS = ("thinking", "aloud", "about", "the", "task,", "one", "word", "after", "the", "other,")


@dataclass(frozen=True)
class ToolRequest:
    """A tool call; ``name`` is ``shell``, ``write`` or the real name of a tool."""

    name: str
    value: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScriptedReply:
    pieces: tuple[tuple[float, str], ...] = ((0.0, "Hello from the scripted model."),)
    """Seconds to wait, then the text."""
    tool: ToolRequest | None = None
    more_tools: tuple[ToolRequest, ...] = ()
    """Further tool calls in the same reply."""
    failure: int = 0
    is_limit: bool = False
    limit_duration_s: int = 3 * 3600
    """Seconds until the limit ends."""
    reports_end: bool = False
    """Whether Gemini gets the delay, too: it does not show delays below a minute."""
    is_cut: bool = False
    input_tokens: int = 1500

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


def build_text_reply(text: str, after: float = 0.0) -> ScriptedReply:
    return ScriptedReply(pieces=((after, text),))


def parse_prompt(prompt: str) -> ScriptedReply:
    wishes = _MODEL_COMMAND.findall(prompt)
    if not wishes:
        return ScriptedReply()
    name, rest = wishes[-1]
    return _REPLY_BUILDERS[name](rest.strip().strip('"'))


def _parse_seconds(rest: str) -> float:
    return float(rest.split()[0])


def _build_slow_reply(rest: str) -> ScriptedReply:
    count = int(_parse_seconds(rest) * 2)
    return ScriptedReply(pieces=tuple((0.5, _FILLER_WORDS[turn % len(_FILLER_WORDS)] + " ") for turn in range(count)))


def _build_tool_reply(rest: str) -> ScriptedReply:
    name, _, arguments = rest.partition(" ")
    return ScriptedReply(tool=ToolRequest(name, arguments=json.loads(arguments or "{}")))


def _build_tools_reply(rest: str) -> ScriptedReply:
    first, *more = (_build_tool_reply(one.strip()).tool for one in rest.split(";;"))
    return ScriptedReply(tool=first, more_tools=tuple(tool for tool in more if tool))


def _build_limit_reply(rest: str) -> ScriptedReply:
    seconds = int(_parse_seconds(rest) - time.time())
    return (
        ScriptedReply(failure=429, is_limit=True, limit_duration_s=seconds, reports_end=seconds > 60)
        if seconds > 0
        else build_text_reply("The limit is over.")
    )


_REPLY_BUILDERS = {
    "text": build_text_reply,
    "slow": _build_slow_reply,
    "stall": lambda rest: build_text_reply("It took a while.", _parse_seconds(rest)),
    "shell": lambda rest: ScriptedReply(tool=ToolRequest("shell", rest)),
    "tools": _build_tools_reply,
    "write": lambda rest: ScriptedReply(tool=ToolRequest("write", rest)),
    "tool": _build_tool_reply,
    "fail": lambda rest: ScriptedReply(failure=int(rest.split()[0])),
    "limit": lambda rest: ScriptedReply(
        failure=429, is_limit=True, limit_duration_s=int(rest.split()[0]) if rest else 3 * 3600
    ),
    "until": _build_limit_reply,
    "cut": lambda _: ScriptedReply(is_cut=True),
    "tokens": lambda rest: ScriptedReply(input_tokens=int(rest.split()[0])),
}
