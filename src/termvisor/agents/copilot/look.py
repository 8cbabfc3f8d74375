"""What Copilot's screens say."""

from termvisor.agents.base import Seen
from termvisor.agents.copilot.layout import parts_of
from termvisor.agents.sight import Rule, Sight
from termvisor.model.screen import Screen
from termvisor.model.signal import FlagsTold

_KEYS = ("dialog", r"^↑/↓ to navigate · enter to select · esc to cancel\Z")
_LIMITED, _LOGIN = FlagsTold(usage_limited=True), FlagsTold(auth_needed=True)

RULES = (
    Rule(
        name="folder_not_trusted",
        state="waiting_approval",
        part="dialog",
        pattern=r"\AConfirm folder trust$(?:\n.*)*?^(?P<question>Do you trust .*\?)$",
        also=(_KEYS,),
    ),
    Rule(
        name="approval_asked",
        state="waiting_approval",
        part="dialog",
        pattern=r"^(?P<question>Do you want to .*\?)$",
        also=(("dialog", r"^[❯ ] 1\. Yes$"), ("dialog", r"^[❯ ] \d\. No\b"), _KEYS),
    ),
    Rule(name="choice_open", state="waiting_input", part="dialog", pattern=_KEYS[1], confidence=0.7),
    Rule(
        name="question_asked",
        state="waiting_input",
        part="form",
        pattern=r"\ACopilot needs information\.$\n(?P<question>.+)$",
        also=(("form", r"esc cancel\Z"),),
    ),
    Rule(
        name="compacting",
        state="running",
        part="below",
        pattern=r"^[○◎◉●] Compacting\b",
        flags=FlagsTold(compacting=True),
    ),
    Rule(
        name="retrying",
        state="running",
        part="below",
        pattern=r"^[○◎◉●] \S.*\besc (?:esc|again)\b",
        also=(("last", r"\A ● (?:Request failed|Response was interrupted) .* Retrying\.\.\."),),
    ),
    Rule(name="working", state="running", part="below", pattern=r"^[○◎◉●] \S.*\besc (?:esc|again)\b"),
    Rule(
        name="usage_limit_reached",
        state="error",
        part="last",
        pattern=r"\A ✗ (?P<message>(?!Shell )(?:.|\n)*?(?:[Uu]sage limit|[Qq]uota)(?:.|\n)*)",
        flags=_LIMITED,
    ),
    Rule(
        name="login_refused",
        state="error",
        part="last",
        pattern=r"\A ✗ (?P<message>Authentication failed(?:.|\n)*)",
        flags=_LOGIN,
    ),
    Rule(
        name="request_failed",
        state="error",
        part="last",
        pattern=r"\A ✗ (?P<message>(?:Failed to get response|Request failed|Model call failed|Error:)(?:.|\n)*)",
    ),
    Rule(name="cancelled", state="idle", part="last", pattern=r"\A ● Operation cancelled by user"),
    Rule(name="compacted", state="idle", part="last", pattern=r"\A (?:● Compaction completed|✗ Compaction Failed)"),
    Rule(
        name="answered",
        state="completed",
        part="last",
        pattern=r"\A ● (?!Tip: |No copilot-instructions)",
        also=(("turn", r"^ ● "),),
        confidence=0.8,
    ),
    Rule(name="at_rest", state="idle", part="below", pattern=r"\bInteractive\b|\bAutopilot\b|\bPlan\b", confidence=0.8),
    Rule(name="about_to_leave", state="idle", part="below", pattern=r"^ctrl\+c again to exit\b", confidence=0.8),
)
SIGHT = Sight(RULES)


def look(screen: Screen) -> Seen:
    return SIGHT.look(parts_of(screen), screen.at)
