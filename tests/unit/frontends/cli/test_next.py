"""`visor next --go` on a terminal."""

from termvisor.frontends.cli.next import way
from termvisor.ops.panes.attach import Attached

THERE = b'{"data": {"waiting": 1, "attached": {"status": "done", "socket": "/s", "outside": ["tmux", "out"]}}}'


def test_the_way_is_in_the_answer_when_somebody_needs_a_person() -> None:
    assert way(THERE) == Attached(status="done", socket="/s", outside=("tmux", "out"))


def test_without_anybody_and_without_leave_there_is_no_way() -> None:
    assert way(b'{"data": {"waiting": 0, "found": null, "attached": null}}') is None
    assert way(b'{"ok": false, "data": null, "error": {"code": "needs_approval"}}') is None
    assert way(b"{}") is None
