"""`visor next --go` on a terminal."""

from termvisor.frontends.cli.next import read_attach_target
from termvisor.ops.panes.attach import AttachResult

THERE = b'{"data": {"waiting": 1, "attached": {"status": "done", "socket": "/s", "outside": ["tmux", "out"]}}}'


def test_the_target_is_read_from_the_answer() -> None:
    assert read_attach_target(THERE) == AttachResult(status="done", socket="/s", outside=("tmux", "out"))


def test_without_an_agent_or_permission_there_is_no_target() -> None:
    assert read_attach_target(b'{"data": {"waiting": 0, "found": null, "attached": null}}') is None
    assert read_attach_target(b'{"ok": false, "data": null, "error": {"code": "needs_approval"}}') is None
    assert read_attach_target(b"{}") is None
