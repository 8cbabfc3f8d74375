"""Quota from signals, detections and the usage tracker."""

import json

import pytest

from termvisor.accounts.quota import (
    parse_detection_allowance,
    parse_signal_allowances,
    parse_tracker_answer,
    query_tracker,
)
from termvisor.actions.executor import run_program
from termvisor.agents.adapters.codex.usage import build_window_payload
from termvisor.clock import NS
from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.account import Account
from termvisor.model.agent.signal import Signal
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId

WORK = Account(service="openai", name="work", email="me@example.org")


def build_signal(limits: object) -> Signal:
    return Signal(
        source="app_server",
        tier="deterministic",
        agent="codex",
        event_at=5,
        ingested_at=6,
        dedupe_key="k",
        kind="note",
        payload=build_window_payload(limits),
    )


def build_detection(
    kind: str = "usage.warning", captures: dict | None = None, evidence: dict | None = None
) -> Detection:
    return Detection(
        at=7, type=kind, rule="r", pane=PaneId(1), source="stream", captures=captures or {}, evidence=evidence or {}
    )


@pytest.mark.parametrize(
    "limits",
    [
        {
            "primary": {"usedPercent": 42, "windowDurationMins": 300, "resetsAt": 90},
            "secondary": {"usedPercent": 7, "windowDurationMins": 10080, "resetsAt": 99},
        },
        {
            "primary": {"used_percent": 42.0, "window_minutes": 300, "resets_at": 90},
            "secondary": {"used_percent": 7.0, "window_minutes": 10080, "resets_at": 99},
        },
    ],
)
def test_both_codex_formats_give_its_two_windows(limits):
    found = parse_signal_allowances(build_signal(limits))
    assert [(one.span, one.percent_remaining, one.resets_at, one.checked_at) for one in found] == [
        ("5h", 58.0, 90 * NS, 5),
        ("weekly", 93.0, 99 * NS, 5),
    ]


@pytest.mark.parametrize("limits", [None, "x", {}, {"primary": None}, {"primary": {"resetsAt": 3}}])
def test_signals_without_figures_give_no_allowance(limits):
    assert parse_signal_allowances(build_signal(limits)) == []


@pytest.mark.parametrize(
    ("captures", "span", "left"),
    [
        ({"remaining": "9", "limit_hours": "5"}, "5h", 9.0),
        ({"remaining": "<1", "limit_hours": "168"}, "weekly", 0.5),
        ({"used": "91", "limit": "weekly"}, "weekly", 9.0),
        ({"used": "91", "limit": "5-hour"}, "5h", 9.0),
        ({"used": "91", "limit": "Opus weekly"}, "opus weekly", 9.0),
        ({"used": "91"}, "all", 9.0),
    ],
)
def test_a_usage_warning_gives_the_remaining_quota(captures, span, left):
    found = parse_detection_allowance(build_detection(captures=captures))
    assert (found.span, found.percent_remaining) == (span, left)


def test_a_reached_limit_has_no_quota_until_its_end():
    found = parse_detection_allowance(build_detection("usage.reached", {"limit": "5-hour"}, {"resets_at": 12}))
    assert (found.span, found.percent_remaining, found.resets_at) == ("5h", 0.0, 12)


@pytest.mark.parametrize("captures", [{}, {"limit": "usage"}, {"remaining": "some"}, {"used": "most"}])
def test_a_warning_without_a_figure_gives_no_allowance(captures):
    assert parse_detection_allowance(build_detection(captures=captures)) is None


def test_other_events_give_no_allowance():
    assert parse_detection_allowance(build_detection("session.summary", {"used": "3"})) is None


def parse_tracker_output(*accounts: dict) -> list:
    answer = parse_tracker_answer(json.dumps({"service": "openai", "accounts": accounts}).encode(), [WORK], "caut", 8)
    return [(account.name, one.span, one.usage_type, one.percent_remaining, one.resets_at) for account, one in answer]


def test_tracker_output_is_parsed_in_both_formats():
    times = {"reset_at": "1970-01-01T00:00:09Z"}
    assert parse_tracker_output({"name": "work", "percent_remaining": 61.5, "limit_hours": 5, **times}) == [
        ("work", "5h", "rate", 61.5, 9 * NS)
    ]
    assert parse_tracker_output({"id": "me@example.org", "percentRemaining": 3, "resetAt": "soon"}) == [
        ("work", "tracked", "rate", 3.0, None)
    ]
    assert parse_tracker_output({"email": "me@example.org", "usage_type": "credits", "limit": 200, "current": 50}) == [
        ("work", "credits", "credits", 75.0, None)
    ]


def test_unknown_accounts_and_missing_figures_are_skipped():
    assert parse_tracker_output({"name": "other", "percent_remaining": 3}, {"name": "work"}, {}) == []


@pytest.mark.parametrize("data", [b"", b"no", b"[]", b'{"accounts": 3}'])
def test_malformed_tracker_output_is_reported(data):
    with pytest.raises(ValueError, match="caut returned malformed output"):
        parse_tracker_answer(data, [WORK], "caut", 8)


@pytest.fixture
def program(tmp_path):
    def write(body: str) -> str:
        path = tmp_path / "caut"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o700)
        return str(path)

    return write


async def test_tracker_output_is_returned_completely(program):
    answer = await query_tracker(program('echo "$@"; yes | head -c 9000'), "usage", "openai", run_program)
    assert answer.startswith(b"usage --service openai --format json\n")
    assert len(answer) > 9000


@pytest.mark.parametrize("name", ["", "/no/such/caut", "no-such-caut"])
async def test_a_missing_tracker_is_no_error(name):
    assert await query_tracker(name, "refresh", "openai", run_program) is None


async def test_a_failure_is_reported_without_its_output(program):
    with pytest.raises(ValueError, match="failed with status 3") as caught:
        await query_tracker(program("echo hush >&2; exit 3"), "refresh", "openai", run_program)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(status="failed", why="timed_out", text="caut gave no answer within 20 s"), "no answer within"),
        (Outcome(status="suppressed", why="policy_asks", text="rule careful: ask"), "was not run: rule careful"),
    ],
)
async def test_a_tracker_that_times_out_or_is_suppressed_is_reported(program, outcome, words):
    async def silent(_action: RunProgram) -> Outcome:
        return outcome

    with pytest.raises(ValueError, match=words):
        await query_tracker(program("exit 0"), "refresh", "openai", silent)


async def test_a_refusal_by_policy_is_reported(program):
    async def denied(_action: RunProgram) -> Outcome:
        raise Refused("the policy says no: not here")

    with pytest.raises(ValueError, match="was not run: the policy says no"):
        await query_tracker(program("exit 0"), "refresh", "openai", denied)
