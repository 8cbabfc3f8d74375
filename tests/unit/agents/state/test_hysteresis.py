"""How long a screen must stay the same before its state counts."""

import pytest

from termvisor.agents.state.resolver import find_next_change
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    ONE,
    build_idle_screens,
    build_knowledge,
    build_screen_signal,
    build_working_screens,
    compute_state_after,
    to_ns,
)

FLICKER = ("unknown", "idle")
SCENES = [
    ("work that moves", 1, [build_screen_signal(1, "running", moved=1)], "running"),
    ("a spinner that does not move", 1, [build_screen_signal(1, "running", moved=-8)], "unknown"),
    (
        "a spinner that moved before",
        30,
        [*build_working_screens(1), build_screen_signal(29, "running", moved=5)],
        "running",
    ),
    ("a dialog", 1, [build_screen_signal(1, "waiting_approval")], "waiting_approval"),
    ("an error", 1, [build_screen_signal(1, "error")], "error"),
    (
        "a prompt for less than two seconds after work",
        4.9,
        [*build_working_screens(1), *build_idle_screens(3, 4, moved=1)],
        "running",
    ),
    ("a prompt for two seconds after work", 5, [*build_working_screens(1), *build_idle_screens(3, 5, moved=1)], "idle"),
    ("a prompt for less than four seconds", 6.9, build_idle_screens(3, 5, moved=1), "unknown"),
    ("a prompt for four seconds", 7, build_idle_screens(3, 5, moved=1), "idle"),
    (
        "a prompt for two seconds after a dialog",
        5,
        [build_screen_signal(1, "waiting_input"), *build_idle_screens(3, 5, moved=1)],
        "idle",
    ),
    (
        "a prompt for two seconds after a dialog and an unknown screen",
        6,
        [
            build_screen_signal(1, "waiting_input"),
            build_screen_signal(3, "unknown"),
            *build_idle_screens(4, 6, moved=1),
        ],
        "idle",
    ),
    (
        "a prompt for less than two seconds after a dialog and an unknown screen",
        5.5,
        [
            build_screen_signal(1, "waiting_input"),
            build_screen_signal(3, "unknown"),
            *build_idle_screens(4, 5, moved=1),
        ],
        "unknown",
    ),
    (
        "a prompt that moves after a dialog",
        5,
        [build_screen_signal(1, "waiting_input"), *(build_screen_signal(n, "idle", moved=n) for n in (3, 4, 5))],
        "idle",
    ),
    (
        "a prompt that moves for less than two seconds after a dialog",
        4.9,
        [build_screen_signal(1, "waiting_input"), *(build_screen_signal(n, "idle", moved=n) for n in (3, 4))],
        "waiting_input",
    ),
    (
        "a prompt that tells the end of a dialog in a second row",
        5,
        [
            build_screen_signal(1, "waiting_input"),
            build_screen_signal(3, "completed", moved=3),
            *(build_screen_signal(n, "idle", moved=4) for n in (4, 5)),
        ],
        "idle",
    ),
    (
        "a prompt, and work again",
        9,
        [*build_working_screens(1), *build_idle_screens(3), *build_working_screens(5)],
        "running",
    ),
    (
        "less than one sample interval",
        17,
        [*build_working_screens(1), build_screen_signal(3, "idle", moved=1, look_interval=15 * 10**9)],
        "running",
    ),
    (
        "one sample interval, so two samples",
        18,
        [*build_working_screens(1), build_screen_signal(3, "idle", moved=1, look_interval=15 * 10**9)],
        "idle",
    ),
    (
        "a prompt that moves",
        20,
        [*build_working_screens(1), *(build_screen_signal(n, "idle", moved=n) for n in range(3, 21))],
        "running",
    ),
    (
        "a prompt that moves for a long time",
        49,
        [*build_working_screens(1), *(build_screen_signal(n, "idle", moved=n) for n in range(3, 49))],
        "idle",
    ),
    (
        "typing at the prompt",
        20.5,
        [*build_idle_screens(1, 6), build_screen_signal(20, "idle", moved=20)],
        "idle",
    ),
    (
        "continued typing at the prompt",
        23,
        [*build_idle_screens(1, 6), *(build_screen_signal(n, "idle", moved=n) for n in (20, 21, 22))],
        "idle",
    ),
    (
        "typing at a prompt that is not settled",
        3,
        [*build_idle_screens(1), build_screen_signal(2, "idle", moved=2)],
        "unknown",
    ),
    (
        "an unknown screen that moves after work",
        40,
        [*build_working_screens(1), build_screen_signal(39, "unknown", moved=39)],
        "running",
    ),
    (
        "an unknown screen that moves, 45 seconds after work",
        47,
        [*build_working_screens(1), *(build_screen_signal(n, "unknown", moved=n) for n in range(3, 47, 2))],
        "unknown",
    ),
    (
        "an unknown screen that flickers, 45 seconds after work",
        47,
        [
            *build_working_screens(1),
            *(build_screen_signal(n, ("unknown", "idle")[n % 2], moved=n) for n in range(3, 47)),
        ],
        "unknown",
    ),
    (
        "an unknown screen that does not move after work",
        60,
        [*build_working_screens(1), build_screen_signal(39, "unknown", moved=14)],
        "unknown",
    ),
    (
        "an unknown screen after idle",
        20,
        [*build_idle_screens(1, 6), build_screen_signal(19, "unknown", moved=19)],
        "unknown",
    ),
    (
        "an unknown screen after a dialog",
        9,
        [build_screen_signal(1, "waiting_input"), build_screen_signal(8, "unknown")],
        "unknown",
    ),
]


@pytest.mark.parametrize(
    ("seconds", "samples", "expected"), [one[1:] for one in SCENES], ids=[one[0] for one in SCENES]
)
def test_screen_samples_give_the_state(seconds: float, samples: list, expected: str) -> None:
    assert compute_state_after(seconds, samples).value == expected


def test_a_flicker_keeps_the_previous_state() -> None:
    settled = build_idle_screens(1, 6)
    assert (
        compute_state_after(10.5, settled, [build_screen_signal(9, "running", moved=-9)], build_idle_screens(10)).value
        == "idle"
    )


def test_the_tracker_wakes_when_an_unknown_screen_ends_work() -> None:
    moving = [build_screen_signal(n, "unknown", moved=n) for n in range(3, 45, 2)]
    slots = build_knowledge(build_working_screens(1), moving).source_slots[ONE]
    assert find_next_change(slots, "claude_code", to_ns(45), DEFAULT_THRESHOLDS) == to_ns(46) + 1
    assert compute_state_after(46.1, build_working_screens(1), moving).reason == "unknown_screen"
