"""`visor next --go` on a terminal."""

import pytest

from termvisor.errors import BadRequest
from termvisor.frontends.cli.attach import choose_tmux_command, read_attach_target
from termvisor.ops.panes.attach import AttachResult

THERE = AttachResult(status="done", socket="/run/tmux/default", outside=("tmux", "out"), inside=("tmux", "in"))


def test_outside_tmux_the_client_attaches_and_inside_it_switches() -> None:
    assert choose_tmux_command(THERE, "") == ("tmux", "out")
    assert choose_tmux_command(THERE, "/run/tmux/default,42,0") == ("tmux", "in")


def test_inside_another_tmux_server_attach_is_an_error() -> None:
    with pytest.raises(BadRequest, match="does not nest"):
        choose_tmux_command(THERE, "/run/tmux/other,42,0")


def test_our_own_viewer_runs_inside_any_tmux() -> None:
    own = AttachResult(status="done", socket="/run/visor/pty", outside=("viewer", "file"), inside=("viewer", "file"))
    assert choose_tmux_command(own, "/run/tmux/other,42,0") == ("viewer", "file")


ATTACHED = b'{"data": {"waiting": 1, "attached": {"status": "done", "socket": "/s", "outside": ["tmux", "out"]}}}'


def test_the_attach_target_is_read_from_the_result() -> None:
    assert read_attach_target(ATTACHED) == AttachResult(status="done", socket="/s", outside=("tmux", "out"))


def test_without_an_agent_or_permission_there_is_no_target() -> None:
    assert read_attach_target(b'{"data": {"waiting": 0, "found": null, "attached": null}}') is None
    assert read_attach_target(b'{"ok": false, "data": null, "error": {"code": "needs_approval"}}') is None
    assert read_attach_target(b"{}") is None
