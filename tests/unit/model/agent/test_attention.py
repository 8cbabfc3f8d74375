"""Needs of agents, each reported once."""

import pytest
from msgspec.structs import replace

from termvisor.model.agent.attention import find_need, list_needs
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.ids import PaneId, RuntimeId
from tests.unit.agents.state.signal_scene import (
    build_screen_signal,
    build_signal,
    build_working_screens,
    compute_state_after,
    to_ns,
)

LIMIT = FlagUpdate(usage_limited=True, resets_at=to_ns(60))
SCENES = [
    ("a permission", [build_signal(1, "hook", "waiting_approval")], "approve"),
    ("a question", [build_signal(1, "hook", "waiting_input")], "answer"),
    ("a login", [build_signal(1, "hook", "error", flags=FlagUpdate(auth_needed=True))], "log_in"),
    ("an error", [build_signal(1, "hook", "error")], "see_error"),
    ("a limit", [build_signal(1, "hook", "error", flags=LIMIT)], "wait_for_limit"),
    ("an end", [build_signal(1, "hook", "completed")], "review"),
    (
        "a question that only the screen shows",
        [
            build_signal(1, "registry", "idle"),
            build_screen_signal(2, "waiting_input"),
            build_screen_signal(8, "waiting_input"),
        ],
        "look",
    ),
    ("work in spite of a limit", [build_signal(1, "hook", "running", flags=LIMIT)], None),
    ("work", [build_signal(1, "hook", "running")], None),
    ("idleness", [build_signal(1, "registry", "idle")], None),
    ("nothing known", [], None),
    (
        "no agent there",
        [
            build_working_screens(1),
            build_signal(3, "screen", kind="no_agent"),
            build_signal(4, "screen", kind="no_agent"),
        ],
        None,
    ),
]


@pytest.mark.parametrize(("signals", "expected"), [one[1:] for one in SCENES], ids=[one[0] for one in SCENES])
def test_needs_are_found_from_signals(signals: list, expected: str | None) -> None:
    found = find_need(compute_state_after(9, *signals))
    assert (found.kind if found else None) == expected


def test_a_limit_ends_by_itself_and_needs_no_action() -> None:
    found = find_need(compute_state_after(9, build_signal(1, "hook", "error", flags=LIMIT)))
    assert found is not None
    assert (found.until, found.is_action) == (to_ns(60), False)


def test_needs_are_sorted_by_urgency_and_waiting_time() -> None:
    signals = ["completed", "error", "waiting_input", "waiting_approval", "waiting_approval"]
    found = [
        replace(compute_state_after(9, build_signal(9 - n, "hook", one)), runtime=RuntimeId(n))
        for n, one in enumerate(signals)
    ]
    assert [one.runtime for one in list_needs(found)] == [4, 3, 2, 1, 0]


def test_a_repeated_signal_gives_the_same_need_and_a_later_wait_another() -> None:
    first = list_needs([compute_state_after(5, build_signal(1, "hook", "waiting_approval"))])
    again = list_needs(
        [
            compute_state_after(
                9, build_signal(1, "hook", "waiting_approval"), build_signal(8, "hook", "waiting_approval")
            )
        ]
    )
    other = list_needs(
        [compute_state_after(9, build_signal(1, "hook", "running"), build_signal(8, "hook", "waiting_approval"))]
    )
    assert first == again != other
    assert first[0].pane == PaneId(7)
