"""Rules over the parts of a screen."""

from termvisor.agents.base import Seen
from termvisor.agents.sight import Rule, Sight, box_of, shown_rows
from termvisor.model.signal import FlagsTold
from tests.unit.agents.saying import NOW, box

SIGHT = Sight(
    [
        Rule(
            name="asked",
            state="waiting_approval",
            part="dialog",
            pattern=r"^(?P<question>Run\?)$",
            also=(("keys", "esc"),),
        ),
        Rule(
            name="limited",
            state="error",
            part="last",
            pattern=r"(?P<message>limit.*)",
            flags=FlagsTold(usage_limited=True),
        ),
        Rule(name="rest", state="idle", part="last", pattern="."),
    ]
)


def test_the_first_rule_that_fits_decides_and_tells_its_groups():
    seen = SIGHT.look({"dialog": ["Please", "Run?"], "keys": ["esc"], "last": ["limit"]}, NOW)
    assert (seen.state, seen.rule, seen.details) == ("waiting_approval", "asked", {"question": "Run?"})


def test_a_rule_wants_all_that_it_names():
    assert SIGHT.look({"dialog": ["Run?"], "last": ["x"]}, NOW).rule == "rest"


def test_what_fits_nothing_is_unknown():
    assert SIGHT.look({}, NOW) == Seen()
    assert SIGHT.look({"elsewhere": ["Run?", "limit"]}, NOW).state == "unknown"


def test_a_limit_tells_its_end():
    assert SIGHT.look({"last": ["limit resets in 5m"]}, NOW).flags.resets_at == NOW + 300 * 10**9


def test_nobody_sees_space_below_and_beside_the_text():
    assert shown_rows(["a  ", "", "b", "", "  "]) == ["a", "", "b"]


def test_a_frame_counts_only_at_the_end_of_the_screen():
    frame = box("one", "", "two")
    assert [inner for _, inner in box_of(["before", *frame])] == ["one", "two"]
    assert box_of([*frame, "> prompt"]) == []
    assert box_of([]) == []
    assert box_of(frame[1:]) == []
