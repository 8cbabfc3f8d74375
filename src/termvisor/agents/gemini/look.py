"""What Gemini's screens say."""

from termvisor.agents.base import Seen
from termvisor.agents.gemini.layout import parts_of
from termvisor.agents.sight import Rule, Sight
from termvisor.model.screen import Screen
from termvisor.model.signal import FlagsTold

_CHOICES = ("dialog", r"^[● ] 1\. \S")
_LIMITED, _LOGIN = FlagsTold(usage_limited=True), FlagsTold(auth_needed=True)

RULES = (
    Rule(
        name="usage_limit_asked",
        state="waiting_input",
        part="dialog",
        pattern=r"^(?P<message>Usage limit reached for .+)$",
        also=(("dialog", r"^[● ] \d\. (?:Keep trying|Stop|Switch to .+)$"),),
        flags=_LIMITED,
    ),
    Rule(
        name="approval_asked",
        state="waiting_approval",
        part="dialog",
        pattern=r"^(?P<question>(?:Allow execution of|Apply this change|Allow|Do you want to proceed)\b.*\?)$",
        also=(("dialog", r"^[● ] 1\. Allow once$"), ("dialog", r"^[● ] \d\. No, suggest changes \(esc\)$")),
    ),
    Rule(
        name="folder_not_trusted",
        state="waiting_approval",
        part="dialog",
        pattern=r"^(?P<question>Do you trust (?:the files in )?this folder\?)",
        also=(_CHOICES,),
    ),
    Rule(
        name="login_asked",
        state="waiting_input",
        part="dialog",
        pattern=r"^(?P<question>How would you like to authenticate for this project\?)",
        also=(_CHOICES,),
        flags=_LOGIN,
    ),
    Rule(name="choice_open", state="waiting_input", part="dialog", pattern=r"^● \d+\. \S", confidence=0.7),
    Rule(
        name="compressing",
        state="running",
        part="last",
        pattern=r"\A[⠀-⣿] Compressing chat history",
        flags=FlagsTold(compacting=True),
    ),
    Rule(name="working", state="running", part="work", pattern=r"^ [⠀-⣿] \S"),
    Rule(
        name="usage_limit_reached",
        state="error",
        part="turn",
        pattern=r"^✕ \[API Error: (?P<message>(?:.|\n  )*?(?:quota|[Uu]sage limit)(?:.|\n  )*)",
        also=(("last", r"^(?:ℹ This request failed|✕ \[API Error)"),),
        flags=_LIMITED,
    ),
    Rule(
        name="login_refused",
        state="error",
        part="turn",
        pattern=r"^✕ \[API Error: (?P<message>(?:.|\n  )*?(?:API key not valid|UNAUTHENTICATED|\b401\b)(?:.|\n  )*)",
        also=(("last", r"^(?:ℹ This request failed|✕ \[API Error)"),),
        flags=_LOGIN,
    ),
    Rule(name="request_failed", state="error", part="last", pattern=r"\A(?:ℹ This request failed|✕ \[API Error)"),
    Rule(name="cancelled", state="idle", part="last", pattern=r"\Aℹ Request cancelled\."),
    Rule(name="compressed", state="idle", part="last", pattern=r"\A✦ Chat history compressed from "),
    Rule(name="answered", state="completed", part="last", pattern=r"\A✦ ", also=(("turn", r"\S"),), confidence=0.8),
    Rule(name="at_rest", state="idle", part="composer", pattern=r"^ [>!*] ", confidence=0.8),
)
SIGHT = Sight(RULES)


def look(screen: Screen) -> Seen:
    return SIGHT.look(parts_of(screen), screen.at)
