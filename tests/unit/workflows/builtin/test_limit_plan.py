"""The plan says when, what, how by hand, and what a person can do."""

import pytest

from termvisor.clock import NS
from termvisor.workflows.builtin.limit_plan import LimitSituation, format_duration, render_plan

NOON = 1_767_268_800 * NS
KNOWN = {"run": 7, "agent": "codex", "now": NOON}


def test_a_plan_is_four_lines_that_a_person_can_act_on():
    told = render_plan(
        LimitSituation(
            **KNOWN,
            session="abc",
            command="codex resume abc",
            cwd="/work",
            resets_at=NOON + 8040 * NS,
            due=NOON + 8045 * NS,
        )
    )
    assert told.splitlines() == [
        "When: the usage limit of codex ends at 2026-01-01 14:14:00 UTC, in 2 h 14 min",
        "What: at 2026-01-01 14:14:05 UTC 'proceed.' is sent once in session abc, if the pane is as it was left",
        "By hand: cd /work && codex resume abc",
        "You can: `visor workflow resume 7` goes on now, `visor workflow cancel 7` drops the plan,"
        " `visor config set auto_resume false` has it wait for you",
    ]


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({}, "did not say when that ends"),
        ({}, "nothing is sent before a person says so"),
        ({}, "By hand: type 'proceed.' in the pane"),
        ({"resets_at": NOON}, "ended at 2026-01-01 12:00:00 UTC"),
        ({"goes_on_by_itself": True}, "codex goes on by itself; nothing is sent"),
        ({"problem": "it was refused"}, "Trouble: it was refused\nWhen:"),
    ],
)
def test_unknown_values_are_stated_in_the_plan(facts, part):
    assert part in render_plan(LimitSituation(**KNOWN, **facts))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (3607, "1 h"), (200_000, "2 d 7 h"), (-5, "0 s")],
)
def test_a_span_has_its_two_largest_parts(seconds, words):
    assert format_duration(seconds * NS) == words
