"""Cursor's agent among the processes of a pane."""

import pytest

from termvisor.agents.cursor.recognise import is_session, recognise
from tests.unit.agents.saying import SESSION, process

SCRIPT = "/home/you/.local/share/cursor-agent/versions/2026.01.28/index.js"


@pytest.mark.parametrize("argv", [("cursor-agent",), ("/home/you/.local/bin/cursor-agent", "fix it"), ("node", SCRIPT)])
def test_it_is_known(argv):
    assert recognise([process(*argv)]) is not None


@pytest.mark.parametrize("argv", [("cursor-agent", "login"), ("cursor", "."), ("node", "/srv/index.js"), ("agent",)])
def test_others_are_none(argv):
    assert recognise([process(*argv)]) is None


def test_a_session_is_a_uuid():
    assert is_session(SESSION)
    assert not is_session("x")
