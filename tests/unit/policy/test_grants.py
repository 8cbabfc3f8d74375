"""What a grant covers."""

import os
from pathlib import Path

import pytest

from termvisor.model.action.action import AnswerAgent, Interrupt
from termvisor.model.action.approval import VerdictReason, combine_reasons
from termvisor.model.ids import PaneId
from termvisor.policy.evaluator import analyze_request
from termvisor.policy.grants import is_covered, list_capabilities, widen_to_categories
from tests.unit.policy.policy_requests import make_command_request, make_request

ASKED = combine_reasons((VerdictReason("default", "others.input", "ask"),))


@pytest.mark.parametrize(
    ("text", "capabilities"),
    [
        ("make test", ("run make",)),
        ("make && pytest -q", ("run make", "run pytest")),
        ("cp /home/me/src/a /home/me/out/b", ("run cp", "read /home/me/src/**", "write /home/me/out/**")),
        ("curl https://example.org/x", ("run curl", "host example.org")),
        ("$TOOL now", ()),
        ("touch /x", ()),
        ("cat /x", ()),
        ("rm -r /x", ()),
        ("cat /home/me/*/x", ()),
        ("cat /home/me/src/*", ("run cat", "read /home/me/src/**")),
        ("mv /home/me/src/a /home/me/out/b", ("run mv", "write /home/me/out/**", "write /home/me/src/**")),
        ("ls; ls", ("run ls",)),
        ("A=b", ()),
    ],
)
def test_a_command_needs_its_programs_folders_and_hosts(text: str, capabilities: tuple[str, ...]) -> None:
    request = make_command_request(text)
    assert list_capabilities(request, analyze_request(request), ASKED) == capabilities


@pytest.mark.parametrize(
    "reason",
    [
        VerdictReason("command", "privilege", "ask"),
        VerdictReason("protected", "session:prod", "ask"),
        VerdictReason("hours", "22:00-07:00", "ask"),
        VerdictReason("default", "broken_policy", "ask"),
        VerdictReason("rule", "two", "ask", two_person=True),
        VerdictReason("rule", "no", "deny"),
        VerdictReason("hook", "h", "ask"),
    ],
)
def test_what_is_always_asked_has_no_capabilities(reason: VerdictReason) -> None:
    request = make_command_request("make test")
    verdict = combine_reasons((*ASKED.reasons, reason))
    assert list_capabilities(request, analyze_request(request), verdict) == ()


def test_a_link_in_a_granted_folder_needs_the_folder_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "granted").mkdir()
    (tmp_path / "granted" / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "granted" / "file").symlink_to(tmp_path / "other" / "file")
    for name, folder in (("out/x", "elsewhere"), ("file", "other"), ("plain", "granted")):
        request = make_command_request(f"touch {tmp_path}/granted/{name}")
        needed = list_capabilities(request, analyze_request(request), ASKED, os.path.realpath)
        assert needed == ("run touch", f"write {tmp_path}/{folder}/**")


def test_other_actions_need_their_category() -> None:
    interrupt = make_request(Interrupt(pane=PaneId(7), agent="codex"))
    assert list_capabilities(interrupt, None, ASKED) == ("category interrupt",)
    tool = make_request(AnswerAgent(agent="claude_code", tool="WebSearch", request="1"))
    assert list_capabilities(tool, None, ASKED) == ("category answer_agent/WebSearch",)
    write = make_request(AnswerAgent(agent="claude_code", tool="Write", writes=("/home/me/src/a.py",), request="1"))
    assert list_capabilities(write, None, ASKED) == ("write /home/me/src/**",)


@pytest.mark.parametrize(
    ("granted", "needed", "expected"),
    [
        (("run make",), ("run make",), True),
        (("run make",), ("run make", "run sh"), False),
        (("write /a/**",), ("write /a/b/**",), True),
        (("write /a/**",), ("write /ab/**",), False),
        (("write /a/**",), ("read /a/**",), False),
        (("write /a/b/**",), ("write /a/**",), False),
        (("category shell",), ("run make",), True),
        (("category filesystem",), ("read /a/**",), True),
        (("category network",), ("host x",), True),
        (("category interrupt",), ("category interrupt",), True),
        (("run /a/**",), ("run /a/b",), False),
        (("host a",), ("host ab",), False),
        (("write /a",), ("write /a/**",), False),
        (("category shell",), ("write /a/**",), False),
        (("run make",), (), False),
        ((), ("run make",), False),
    ],
)
def test_a_grant_covers_only_what_it_names(granted, needed, expected: bool) -> None:
    assert is_covered(granted, needed) is expected


def test_capabilities_belong_to_categories() -> None:
    needed = ("run make", "run sh", "write /a/**", "host x", "category interrupt")
    assert widen_to_categories(needed) == (
        "category shell", "category filesystem", "category network", "category interrupt"
    )  # fmt: skip
