"""Managed or not: a story of one pane, and the ways between its bindings."""

import pytest

from termvisor.agents.state.presence import bound, presence
from termvisor.agents.state.source_reading import witnesses
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import ONE, at, knowing, runtime, says, working


def missing(*seconds: float) -> list:
    return [says(one, "screen", kind="no_agent") for one in seconds]


SCENES = [
    ("recognised by its looks", 3, 101, [working(1, 2)], "managed_heuristic"),
    ("one look without it", 4, 101, [working(1), missing(3)], "managed_heuristic"),
    ("two looks without it", 6, 101, [working(1), missing(3, 5)], "unmanaged"),
    ("two looks, but not in a row", 9, 101, [missing(1), working(3), missing(5)], "managed_heuristic"),
    ("it has spoken", 3, 101, [working(1), says(2, "hook", "running")], "managed_deterministic_fresh"),
    ("it fell silent", 700, 101, [says(2, "hook", "running")], "managed_deterministic_stale"),
    ("and speaks again", 701, 101, [says(2, "hook", "running"), says(700, "hook")], "managed_deterministic_fresh"),
    (
        "its process lives, whatever the screen shows",
        900,
        101,
        [says(2, "hook", kind="source_down"), missing(3, 5)],
        "managed_deterministic_stale",
    ),
    (
        "its process is not known, it cannot be heard, and the screen shows none",
        900,
        0,
        [says(2, "hook", kind="source_down"), missing(3, 5)],
        "unmanaged",
    ),
]


@pytest.mark.parametrize(
    ("seconds", "pid", "heard", "expected"), [one[1:] for one in SCENES], ids=[o[0] for o in SCENES]
)
def test_a_binding(seconds: float, pid: int, heard: list, expected) -> None:
    here = runtime(pid=pid)
    found = bound(witnesses(knowing(*heard).ledgers[ONE], here.agent, at(seconds), DEFAULT), here, DEFAULT)
    assert found == expected
    assert presence(found) == ("unmanaged" if expected == "unmanaged" else "managed")
