"""What the model is to do next, said by the prompt itself.

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

_WISH = re.compile(r"MODEL ([a-z]+)[ \t]*([^\n]*?)(?=MODEL |\n|</|$)")
_ALOUD = ("thinking", "aloud", "about", "the", "task,", "one", "word", "after", "the", "other,")


@dataclass(frozen=True)
class Tool:
    """``name`` is ``shell``, ``write`` or the true name of one."""

    name: str
    value: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    pieces: tuple[tuple[float, str], ...] = ((0.0, "Hello from the scripted model."),)
    """How long to wait, then what to say."""
    tool: Tool | None = None
    more: tuple[Tool, ...] = ()
    """Further tools, asked for in the same breath."""
    failure: int = 0
    is_limit: bool = False
    limit_for: int = 3 * 3600
    """Seconds until the limit ends."""
    tells_end: bool = False
    """Whether Gemini is told so, too: of less than a minute it says nothing to its user."""
    is_cut: bool = False
    input_tokens: int = 1500

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


def saying(text: str, after: float = 0.0) -> Reply:
    return Reply(pieces=((after, text),))


def reply_to(prompt: str) -> Reply:
    wishes = _WISH.findall(prompt)
    if not wishes:
        return Reply()
    name, rest = wishes[-1]
    return _REPLIES[name](rest.strip().strip('"'))


def _seconds(rest: str) -> float:
    return float(rest.split()[0])


def _slowly(rest: str) -> Reply:
    count = int(_seconds(rest) * 2)
    return Reply(pieces=tuple((0.5, _ALOUD[turn % len(_ALOUD)] + " ") for turn in range(count)))


def _named_tool(rest: str) -> Reply:
    name, _, arguments = rest.partition(" ")
    return Reply(tool=Tool(name, arguments=json.loads(arguments or "{}")))


def _tools(rest: str) -> Reply:
    first, *more = (_named_tool(one.strip()).tool for one in rest.split(";;"))
    return Reply(tool=first, more=tuple(tool for tool in more if tool))


def _limited_until(rest: str) -> Reply:
    seconds = int(_seconds(rest) - time.time())
    return (
        Reply(failure=429, is_limit=True, limit_for=seconds, tells_end=seconds > 60)
        if seconds > 0
        else saying("The limit is over.")
    )


_REPLIES = {
    "text": saying,
    "slow": _slowly,
    "stall": lambda rest: saying("It took a while.", _seconds(rest)),
    "shell": lambda rest: Reply(tool=Tool("shell", rest)),
    "tools": _tools,
    "write": lambda rest: Reply(tool=Tool("write", rest)),
    "tool": _named_tool,
    "fail": lambda rest: Reply(failure=int(rest.split()[0])),
    "limit": lambda rest: Reply(failure=429, is_limit=True, limit_for=int(rest.split()[0]) if rest else 3 * 3600),
    "until": _limited_until,
    "cut": lambda _: Reply(is_cut=True),
    "tokens": lambda rest: Reply(input_tokens=int(rest.split()[0])),
}
