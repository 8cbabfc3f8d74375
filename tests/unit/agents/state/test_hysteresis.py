"""How long a look must stay the same before it is believed; a conversation with one screen."""

import pytest

from tests.unit.agents.state.scene import resting, shows, state, working

SCENES = [
    ("work that moves", 1, [shows(1, "running", moved=1)], "running"),
    ("a spinner that stands still", 1, [shows(1, "running", moved=-8)], "unknown"),
    ("one that moved before goes on", 30, [*working(1), shows(29, "running", moved=5)], "running"),
    ("a dialog", 1, [shows(1, "waiting_approval")], "waiting_approval"),
    ("an error", 1, [shows(1, "error")], "error"),
    ("a prompt for less than four seconds", 6.9, [*working(1), *resting(3, 5, moved=1)], "running"),
    ("a prompt for four seconds", 7, [*working(1), *resting(3, 5, moved=1)], "idle"),
    ("a prompt, and work again", 9, [*working(1), *resting(3), *working(5)], "running"),
    ("two looks must fit in", 30, [*working(1), shows(3, "idle", moved=1, look_interval=15 * 10**9)], "running"),
    ("and then", 33, [*working(1), shows(3, "idle", moved=1, look_interval=15 * 10**9)], "idle"),
    ("a prompt that moves", 20, [*working(1), *(shows(n, "idle", moved=n) for n in range(3, 21))], "running"),
    (
        "for long: something else repaints",
        49,
        [*working(1), *(shows(n, "idle", moved=n) for n in range(3, 49))],
        "idle",
    ),
    ("somebody types at the prompt", 20.5, [*resting(1, 6), shows(20, "idle", moved=20)], "idle"),
    ("and types on", 23, [*resting(1, 6), *(shows(n, "idle", moved=n) for n in (20, 21, 22))], "idle"),
    ("at a prompt that was not believed yet", 3, [*resting(1), shows(2, "idle", moved=2)], "unknown"),
    ("work under a strange screen that moves", 40, [*working(1), shows(39, "unknown", moved=39)], "running"),
    ("and has not moved for long", 60, [*working(1), shows(39, "unknown", moved=14)], "unknown"),
    ("rest under a strange screen", 20, [*resting(1, 6), shows(19, "unknown", moved=19)], "unknown"),
    ("an answered dialog under a strange screen", 9, [shows(1, "waiting_input"), shows(8, "unknown")], "unknown"),
]


@pytest.mark.parametrize(("seconds", "looks", "expected"), [one[1:] for one in SCENES], ids=[one[0] for one in SCENES])
def test_a_look(seconds: float, looks: list, expected: str) -> None:
    assert state(seconds, looks).value == expected


def test_a_flicker_leaves_what_was_believed_before() -> None:
    settled = resting(1, 6)
    assert state(10.5, settled, [shows(9, "running", moved=-9)], resting(10)).value == "idle"
