"""Who needs a person, and that they are told once."""

import pytest
from msgspec.structs import replace

from termvisor.model.agent.attention import need, news, queue
from termvisor.model.agent.signal import FlagsTold
from termvisor.model.ids import PaneId, RuntimeId
from tests.unit.agents.state.scene import at, says, shows, state, working

LIMIT = FlagsTold(usage_limited=True, resets_at=at(60))
SCENES = [
    ("a permission", [says(1, "hook", "waiting_approval")], "approve"),
    ("a question", [says(1, "hook", "waiting_input")], "answer"),
    ("a login", [says(1, "hook", "error", flags=FlagsTold(auth_needed=True))], "log_in"),
    ("an error", [says(1, "hook", "error")], "see_error"),
    ("a limit", [says(1, "hook", "error", flags=LIMIT)], "wait_for_limit"),
    ("an end", [says(1, "hook", "completed")], "review"),
    (
        "a question that only the screen shows",
        [says(1, "registry", "idle"), shows(2, "waiting_input"), shows(8, "waiting_input")],
        "look",
    ),
    ("work in spite of a limit", [says(1, "hook", "running", flags=LIMIT)], None),
    ("work", [says(1, "hook", "running")], None),
    ("idleness", [says(1, "registry", "idle")], None),
    ("nothing known", [], None),
    ("no agent there", [working(1), says(3, "screen", kind="no_agent"), says(4, "screen", kind="no_agent")], None),
]


@pytest.mark.parametrize(("heard", "expected"), [one[1:] for one in SCENES], ids=[one[0] for one in SCENES])
def test_a_need(heard: list, expected: str | None) -> None:
    found = need(state(9, *heard))
    assert (found.kind if found else None) == expected


def test_a_limit_ends_by_itself_and_needs_nobody() -> None:
    found = need(state(9, says(1, "hook", "error", flags=LIMIT)))
    assert found is not None
    assert (found.until, found.is_action) == (at(60), False)


def test_the_most_urgent_comes_first_and_of_equals_the_one_that_waits_longest() -> None:
    heard = ["completed", "error", "waiting_input", "waiting_approval", "waiting_approval"]
    found = [replace(state(9, says(9 - n, "hook", one)), runtime=RuntimeId(n)) for n, one in enumerate(heard)]
    assert [one.runtime for one in queue(found)] == [4, 3, 2, 1, 0]


def test_a_need_is_news_once() -> None:
    first = queue([state(5, says(1, "hook", "waiting_approval"))])
    again = queue([state(9, says(1, "hook", "waiting_approval"), says(8, "hook", "waiting_approval"))])
    other = queue([state(9, says(1, "hook", "running"), says(8, "hook", "waiting_approval"))])
    assert news([], first) == first
    assert news(first, again) == []
    assert news(first, other) == other
    assert first[0].pane == PaneId(7)
