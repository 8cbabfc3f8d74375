"""Recognition of the Cursor process."""

import pytest

from termvisor.agents.adapters.cursor.process_match import PROGRAM_MATCHER
from tests.unit.agents.adapters.adapter_inputs import build_process

SCRIPT = "/home/you/.local/share/cursor-agent/versions/2026.01.28/index.js"


@pytest.mark.parametrize("argv", [("cursor-agent",), ("/home/you/.local/bin/cursor-agent", "fix it"), ("node", SCRIPT)])
def test_it_is_known(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is not None


@pytest.mark.parametrize("argv", [("cursor-agent", "login"), ("cursor", "."), ("node", "/srv/index.js"), ("agent",)])
def test_others_are_none(argv):
    assert PROGRAM_MATCHER.find_agent([build_process(*argv)]) is None
