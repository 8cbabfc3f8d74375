"""Gemini among the processes of a pane."""

import pytest

from termvisor.agents.adapters.gemini.process_match import LAUNCH
from tests.unit.agents.adapters.saying import process

SCRIPT = "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"


def test_the_inner_one_of_the_two_runs_the_hooks():
    outer, inner = process("node", SCRIPT, pid=1), process("/usr/bin/node", "--max-old-space-size=9", SCRIPT, pid=2)
    assert LAUNCH.found([process("bash"), outer, inner]) == inner
    assert LAUNCH.found([process("bash"), outer]) == outer


@pytest.mark.parametrize(
    "argv", [("node", "/home/you/gemini.js"), ("vim", SCRIPT), ("node", SCRIPT, "mcp", "list"), ("node",)]
)
def test_other_scripts_and_its_errands_are_none(argv):
    assert LAUNCH.found([process(*argv)]) is None


def test_npx_runs_it_by_a_link():
    inner = process("node", "/home/dev/.npm/node_modules/.bin/gemini", pid=2)
    assert LAUNCH.found([process("npm exec gemini"), inner]) == inner
