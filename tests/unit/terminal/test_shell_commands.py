"""Derive commands from marks as real shells and hostile programs print them."""

import pytest

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.output import Mark, MarkKind
from termvisor.terminal.row_window import LineAnchor
from termvisor.terminal.shell_tracker import MAX_SHELL_DEPTH, ShellCommandsState, ShellTracker

NONCE = "5eed"


class PaneMarks:
    """Applies marks at 10, 20, 30 …; each is anchored to the line of its number, E to none."""

    def __init__(self) -> None:
        self.shells = ShellTracker(NONCE)
        self.updates: dict[int, CommandUpdate] = {}
        self.edges: list[CommandBoundary] = []
        self.offset = 0

    def mark(
        self,
        kind: MarkKind,
        text: str = "",
        exit_code: int | None = None,
        *,
        is_proven: bool = False,
        aid: str | None = None,
    ) -> "PaneMarks":
        self.offset += 10
        params = ({} if aid is None else {"aid": aid}) | ({"nonce": NONCE} if is_proven else {})
        mark = Mark(kind=kind, offset=self.offset, text=text, exit_code=exit_code, params=params)
        self.shells.apply_mark(mark, self.offset * 100)
        return self._take([] if kind == "command_line" else [LineAnchor(self.offset, self.offset // 10)])

    def prompt(self, **how) -> "PaneMarks":
        return self.mark("prompt_start", **how).mark("input_start", **how)

    def line(self, text: str, **how) -> "PaneMarks":
        return self.mark("command_line", text, **how)

    def start(self, text: str = "", **how) -> "PaneMarks":
        return self.mark("command_start", text, **how)

    def end(self, exit_code: int | None = 0, **how) -> "PaneMarks":
        return self.mark("command_end", "", exit_code, **how)

    def close_epoch(self) -> "PaneMarks":
        self.shells.finish(self.offset + 10)
        return self._take([LineAnchor(self.offset + 10, self.offset // 10 + 1)])

    def _take(self, anchors: list[LineAnchor]) -> "PaneMarks":
        self.shells.resolve_edges(anchors, [], 0)
        commands, edges = self.shells.take_updates()
        self.updates.update({update.start: update for update in commands})
        self.edges += [edge for edge, _ in edges]
        return self

    @property
    def summary(self) -> list[tuple[str | None, str, int | None]]:
        return [(update.line, update.status, update.exit_code) for update in self.updates.values()]


CASES = [
    ("silence", PaneMarks(), []),
    ("a prompt", PaneMarks().prompt(), []),
    ("a running command", PaneMarks().prompt().start("make"), [("make", "running", None)]),
    ("a finished one", PaneMarks().prompt().start("make").end(2).prompt(), [("make", "finished", 2)]),
    ("a command line before the start", PaneMarks().prompt().line("make").start().end(), [("make", "finished", 0)]),
    ("a command line after the start", PaneMarks().prompt().start().line("make").end(), [("make", "finished", 0)]),
    ("the start knows better", PaneMarks().line("old").start("make"), [("make", "running", None)]),
    ("no line at all", PaneMarks().prompt().start().end(), [(None, "finished", 0)]),
    (
        "a line is for one command only",
        PaneMarks().line("a").start().end().start(),
        [("a", "finished", 0), (None, "running", None)],
    ),
    ("a line that was never run", PaneMarks().line("a").prompt().start(), [(None, "running", None)]),
    ("an end without status", PaneMarks().start("make").end(None), [("make", "finished", None)]),
    ("an end without a start", PaneMarks().prompt().end(130).prompt(), []),
    ("an interrupted prompt", PaneMarks().prompt().end(130).prompt().start("a").end(), [("a", "finished", 0)]),
    ("a second end", PaneMarks().start("a").end(1).end(2), [("a", "finished", 1)]),
    ("a prompt that is drawn again", PaneMarks().prompt().prompt().prompt().start("a").end(), [("a", "finished", 0)]),
    ("a prompt without an end", PaneMarks().start("a").prompt(), [("a", "lost", None)]),
    ("a lost one stays lost", PaneMarks().start("a").prompt().end(0), [("a", "lost", None)]),
    ("a start without an end", PaneMarks().start("a").start("b").end(), [("a", "lost", None), ("b", "finished", 0)]),
    ("the end of the epoch", PaneMarks().start("a").close_epoch(), [("a", "lost", None)]),
    (
        "a shell in a shell",
        PaneMarks().prompt(aid="1").start("bash", aid="1").prompt(aid="2").start("ls", aid="2").end(3, aid="2")
        .prompt(aid="2").end(0, aid="1").prompt(aid="1"),
        [("bash", "finished", 0), ("ls", "finished", 3)],
    ),
    (
        "a shell in a shell that is left amid a command",
        PaneMarks().prompt(aid="1").start("ssh far").prompt(aid="2").start("sleep").end(255, aid="1"),
        [("ssh far", "finished", 255), ("sleep", "lost", None)],
    ),
    (
        "only prompts and ends name their shell",
        PaneMarks().prompt(aid="7").start("a").end(1, aid="7").prompt(aid="7").start("b").end(2, aid="7"),
        [("a", "finished", 1), ("b", "finished", 2)],
    ),
    (
        "an interrupted prompt of an inner shell",
        PaneMarks().prompt(aid="1").start("bash").prompt(aid="2").end(130, aid="2").prompt(aid="2"),
        [("bash", "running", None)],
    ),
    (
        "the line of an inner command is not the outer one's",
        PaneMarks().prompt(aid="1").start(aid="1").prompt(aid="2").line("ls", aid="2").start(aid="2"),
        [(None, "running", None), ("ls", "running", None)],
    ),
    (
        "a shell that became another one keeps its name",
        PaneMarks().prompt(aid="1").start("exec bash", aid="1").prompt(aid="1"),
        [("exec bash", "lost", None)],
    ),
    (
        "an unproven command when proof begins",
        PaneMarks().start("evil").prompt(is_proven=True),
        [("evil", "lost", None)],
    ),
    (
        "a line forged before the first proof",
        PaneMarks().line("evil").start(is_proven=True).end(is_proven=True),
        [(None, "finished", 0)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("pane", "summary"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_marks_determine_the_commands(pane: PaneMarks, summary: list) -> None:
    assert pane.summary == summary


def test_a_command_has_its_times_places_and_folder() -> None:
    pane = PaneMarks()
    pane.shells.apply_mark(Mark(kind="cwd", offset=1, text="/src"), 1)
    pane.prompt().start("make").end(2)
    assert pane.updates[30] == CommandUpdate(
        start=30, started_at=3000, line="make", cwd="/src", ended_at=4000, exit_code=2, end=40, status="finished"
    )
    assert pane.edges == [CommandBoundary(30, 30, False), CommandBoundary(30, 40, True)]


def test_a_lost_command_has_an_edge_but_no_end_in_time() -> None:
    pane = PaneMarks().start("a").prompt()
    assert (pane.updates[10].end, pane.updates[10].ended_at) == (20, None)
    assert pane.edges == [CommandBoundary(10, 10, False), CommandBoundary(10, 20, True)]


def test_an_unproven_command_is_lost_at_the_first_proven_mark_of_a_line() -> None:
    pane = PaneMarks().start("evil").line("ls", is_proven=True)
    assert pane.summary == [("evil", "running", None)]
    pane.start(is_proven=True)
    assert pane.summary == [("evil", "lost", None), ("ls", "running", None)]
    assert pane.edges == [CommandBoundary(10, 10, False), CommandBoundary(10, 30, True), CommandBoundary(30, 30, False)]


def test_only_a_start_and_an_end_with_proof_are_proof() -> None:
    assert PaneMarks().start("a", is_proven=True).end(is_proven=True).updates[10].is_proven
    assert PaneMarks().start("a", is_proven=True).end().updates[10].status == "running"
    assert not PaneMarks().start("a").end(is_proven=True).updates[10].is_proven


def test_the_folder_reported_by_visual_studio_code_is_used() -> None:
    shells = ShellTracker(None)
    for params in ({"Cwd": "/a b"}, {}):
        shells.apply_mark(Mark(kind="prompt_property", offset=1, params=params), 1)
        assert shells.commands_state.shells.cwd == "/a b"


def test_the_outermost_of_too_many_nested_shells_are_forgotten() -> None:
    pane = PaneMarks()
    for number in range(MAX_SHELL_DEPTH + 3):
        pane.start(f"shell {number}", aid=str(number))
    assert len(pane.shells.commands_state.shells.running) == MAX_SHELL_DEPTH
    assert [update.status for update in pane.updates.values()] == ["lost"] * 3 + ["running"] * MAX_SHELL_DEPTH


def test_other_marks_change_nothing() -> None:
    shells = PaneMarks().start("a").shells
    before = shells.commands_state
    shells.apply_mark(Mark(kind="alt_screen_on", offset=99), 9)
    assert shells.commands_state == before


def test_an_edge_is_estimated_until_its_line_is_final() -> None:
    shells = ShellTracker(None)
    shells.apply_mark(Mark(kind="command_start", offset=50), 1)
    shells.resolve_edges([], [LineAnchor(20, 6), LineAnchor(50, 8)], 5)
    assert shells.take_updates()[1] == ((CommandBoundary(50, 50, False), 3),)
    shells.resolve_edges([LineAnchor(50, 9)], [], 7)
    assert shells.take_updates()[1] == ((CommandBoundary(50, 50, False), 2),)
    assert shells.commands_state.edges == ()


def test_an_edge_without_a_known_line_keeps_its_stored_estimate() -> None:
    edge = CommandBoundary(5, 20, False)
    shells = ShellTracker(None, commands=ShellCommandsState(edges=(edge,)))
    shells.resolve_edges([LineAnchor(21, 3)], [LineAnchor(19, 4)], 0)
    assert shells.take_updates() == ((), ())
    assert shells.commands_state.edges == (edge,)
