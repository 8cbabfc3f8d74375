"""What opencode's screens say."""

from termvisor.agents.base import Seen
from termvisor.agents.opencode.layout import parts_of
from termvisor.agents.sight import Rule, Sight
from termvisor.model.screen import Screen
from termvisor.model.signal import FlagsTold

_WORK = r"^[⬝■]{4,}"
_ENDED = r"^\s+▣  {} · \S.* · (?:\d+(?:\.\d+)?m?s|\d+m \d+s|\d+h \d+m)(?:\s{{3,}}|$)"

RULES = (
    Rule(
        name="permission_asked",
        state="waiting_approval",
        part="panel",
        pattern=r"\A△ (?P<question>Permission required)$(?:(?:\n.*)*?\n\$ (?P<command>.+)$)?",
        also=(("panel", r"^Allow once\s+Allow always\s+Reject\b"),),
    ),
    Rule(
        name="always_asked",
        state="waiting_approval",
        part="panel",
        pattern=r"\A△ (?P<question>Always allow)$",
        also=(("panel", r"^Confirm\s+Cancel\b"),),
    ),
    Rule(
        name="reason_asked",
        state="waiting_input",
        part="panel",
        pattern=r"\A△ (?P<question>Reject permission)$",
    ),
    Rule(
        name="question_asked",
        state="waiting_input",
        part="panel",
        pattern=r"\A(?P<question>\S.*)$",
        also=(("panel", r"^↑↓ select\s+enter (?:submit|confirm|toggle)\s+esc dismiss\b"),),
    ),
    Rule(
        name="usage_limit_retried",
        state="running",
        part="below",
        pattern=_WORK + r" (?P<message>.*(?:[Uu]sage limit|[Qq]uota).*) \[retrying\b",
        flags=FlagsTold(usage_limited=True),
    ),
    Rule(name="retrying", state="running", part="below", pattern=_WORK + r" (?P<message>\S.*) \[retrying\b"),
    Rule(
        name="compacting",
        state="running",
        part="end",
        pattern=r"^\s+▣  Compaction · ",
        also=(("below", _WORK + r" ?esc "),),
        flags=FlagsTold(compacting=True),
    ),
    Rule(name="working", state="running", part="below", pattern=_WORK + r" ?.*\besc (?:again to )?interrupt\b"),
    Rule(name="working_narrow", state="running", part="below", pattern=_WORK, confidence=0.7),
    Rule(name="interrupted", state="idle", part="end", pattern=r"^\s+▣  .* · interrupted(?:\s{3,}|$)"),
    Rule(name="compacted", state="idle", part="end", pattern=_ENDED.format("Compaction")),
    Rule(name="answered", state="completed", part="end", pattern=_ENDED.format(r"(?!Compaction)\S+")),
    Rule(
        name="usage_limit_reached",
        state="error",
        part="broken",
        pattern=r"^(?P<message>(?!\$ |# ).*(?:[Uu]sage limit|[Qq]uota)\b.*)$",
        flags=FlagsTold(usage_limited=True),
        confidence=0.6,
    ),
    Rule(
        name="login_refused",
        state="error",
        part="broken",
        pattern=r"^(?P<message>(?!\$ |# ).*(?:API key|[Uu]nauthorized|[Aa]uthentication).*)$",
        flags=FlagsTold(auth_needed=True),
        confidence=0.6,
    ),
    Rule(
        name="request_failed",
        state="error",
        part="broken",
        pattern=r"^(?P<message>(?!\$ |# ).*(?:[Ee]rror|[Ff]ailed|[Oo]verloaded|[Rr]ate limit)\b.*)$",
        confidence=0.5,
    ),
    Rule(name="at_rest", state="idle", part="below", pattern=r"\bctrl\+p commands\b", confidence=0.8),
)
SIGHT = Sight(RULES)


def look(screen: Screen) -> Seen:
    return SIGHT.look(parts_of(screen), screen.at)
