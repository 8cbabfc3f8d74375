from termvisor.model.ids import PaneId
from termvisor.testing.fake_commands import FakeCommands

PANE, OTHER = PaneId(1), PaneId(2)


async def test_what_a_test_runs_is_found_again() -> None:
    commands = FakeCommands()
    commands.start_command(PANE, "Make", 10, 2)
    made = commands.end_command(PANE, 1, 20, 3)
    other = commands.start_command(OTHER, None, 30, 1)
    assert (made.status, made.ended_at, made.last_line) == ("finished", 20, 3)
    assert await commands.list() == [made, other]
    assert await commands.list(pane=PANE, since=10, failed=True, text="make") == [made]
    assert await commands.list(limit=1) == [other]
    assert [await commands.find(PANE, which) for which in ("last", made.id, other.id)] == [made, made, None]
    assert [await commands.find_after_line(PANE, line) for line in (1, 2)] == [made, None]


async def test_an_end_without_a_status_is_a_loss() -> None:
    commands = FakeCommands()
    commands.start_command(PANE, "ssh", 10, 2)
    assert commands.end_command(PANE, None, 20, 3).status == "lost"
