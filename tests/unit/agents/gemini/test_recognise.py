"""Gemini among the processes of a pane."""

import pytest

from termvisor.agents.gemini.recognise import is_session, recognise
from tests.unit.agents.saying import SESSION, process

SCRIPT = "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"


def test_the_inner_one_of_the_two_runs_the_hooks():
    outer, inner = process("node", SCRIPT, pid=1), process("/usr/bin/node", "--max-old-space-size=9", SCRIPT, pid=2)
    assert recognise([process("bash"), outer, inner]) == inner
    assert recognise([process("bash"), outer]) == outer


@pytest.mark.parametrize(
    "argv", [("node", "/home/you/gemini.js"), ("vim", SCRIPT), ("node", SCRIPT, "mcp", "list"), ("node",)]
)
def test_other_scripts_and_its_errands_are_none(argv):
    assert recognise([process(*argv)]) is None


def test_a_session_is_a_uuid():
    assert is_session(SESSION)
    assert not is_session("latest")
    assert not is_session(f"{SESSION};rm")
