"""Managed or not: a story of one pane, and the ways between its bindings."""

import pytest

from termvisor.agents.state.presence import classify_binding, derive_presence
from termvisor.agents.state.source_reading import read_sources
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import (
    ONE,
    build_agent_process,
    build_knowledge,
    build_signal,
    build_working_screens,
    to_ns,
)


def missing(*seconds: float) -> list:
    return [build_signal(one, "screen", kind="no_agent") for one in seconds]


SCENES = [
    ("recognised by its looks", 3, 101, [build_working_screens(1, 2)], "managed_heuristic"),
    ("one look without it", 4, 101, [build_working_screens(1), missing(3)], "managed_heuristic"),
    ("two looks without it", 6, 101, [build_working_screens(1), missing(3, 5)], "unmanaged"),
    ("two looks, but not in a row", 9, 101, [missing(1), build_working_screens(3), missing(5)], "managed_heuristic"),
    (
        "it has spoken",
        3,
        101,
        [build_working_screens(1), build_signal(2, "hook", "running")],
        "managed_deterministic_fresh",
    ),
    ("it fell silent", 700, 101, [build_signal(2, "hook", "running")], "managed_deterministic_stale"),
    (
        "and speaks again",
        701,
        101,
        [build_signal(2, "hook", "running"), build_signal(700, "hook")],
        "managed_deterministic_fresh",
    ),
    (
        "its process lives, whatever the screen shows",
        900,
        101,
        [build_signal(2, "hook", kind="source_down"), missing(3, 5)],
        "managed_deterministic_stale",
    ),
    (
        "its process is not known, it cannot be heard, and the screen shows none",
        900,
        0,
        [build_signal(2, "hook", kind="source_down"), missing(3, 5)],
        "unmanaged",
    ),
]


@pytest.mark.parametrize(
    ("seconds", "pid", "heard", "expected"), [one[1:] for one in SCENES], ids=[o[0] for o in SCENES]
)
def test_a_binding(seconds: float, pid: int, heard: list, expected) -> None:
    here = build_agent_process(pid=pid)
    found = classify_binding(
        read_sources(build_knowledge(*heard).ledgers[ONE], here.agent, to_ns(seconds), DEFAULT_THRESHOLDS),
        here,
        DEFAULT_THRESHOLDS,
    )
    assert found == expected
    assert derive_presence(found) == ("unmanaged" if expected == "unmanaged" else "managed")
