"""Derive commands from marks as real shells and hostile programs print them."""

import pytest

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.output import Mark, MarkKind
from termvisor.terminal.shell_tracker import MAX_SHELL_DEPTH, ShellTracker

NONCE = "5eed"


class Pane:
    """Hears marks at 10, 20, 30 …; each stands in an empty line that began one byte before it; E tells no row."""

    def __init__(self) -> None:
        self.shells = ShellTracker(NONCE)
        self.told: dict[int, CommandUpdate] = {}
        self.edges: list[CommandBoundary] = []
        self.offset = 0

    def mark(
        self,
        kind: MarkKind,
        text: str = "",
        exit_code: int | None = None,
        *,
        ours: bool = False,
        aid: str | None = None,
    ) -> "Pane":
        self.offset += 10
        params = ({} if aid is None else {"aid": aid}) | ({"nonce": NONCE} if ours else {})
        row = 0 if kind == "command_line" else self.offset - 1
        mark = Mark(kind=kind, offset=self.offset, row=row, text=text, exit_code=exit_code, params=params)
        self.shells.apply_mark(mark, self.offset * 100)
        return self._take()

    def prompt(self, **how) -> "Pane":
        return self.mark("prompt_start", **how).mark("input_start", **how)

    def line(self, text: str, **how) -> "Pane":
        return self.mark("command_line", text, **how)

    def start(self, text: str = "", **how) -> "Pane":
        return self.mark("command_start", text, **how)

    def end(self, exit_code: int | None = 0, **how) -> "Pane":
        return self.mark("command_end", "", exit_code, **how)

    def over(self) -> "Pane":
        self.shells.finish(self.offset + 10)
        return self._take()

    def _take(self) -> "Pane":
        self.shells.settle_lines([], self.offset + 10)
        commands, edges = self.shells.take_updates()
        self.told.update({told.start: told for told in commands})
        self.edges += [edge for edge, _ in edges]
        return self

    @property
    def story(self) -> list[tuple[str | None, str, int | None]]:
        return [(told.line, told.status, told.exit_code) for told in self.told.values()]


CONVERSATIONS = [
    ("silence", Pane(), []),
    ("a prompt", Pane().prompt(), []),
    ("a running command", Pane().prompt().start("make"), [("make", "running", None)]),
    ("a finished one", Pane().prompt().start("make").end(2).prompt(), [("make", "finished", 2)]),
    ("a line told before", Pane().prompt().line("make").start().end(), [("make", "finished", 0)]),
    ("a line told after", Pane().prompt().start().line("make").end(), [("make", "finished", 0)]),
    ("the start knows better", Pane().line("old").start("make"), [("make", "running", None)]),
    ("no line at all", Pane().prompt().start().end(), [(None, "finished", 0)]),
    (
        "a line is for one command only",
        Pane().line("a").start().end().start(),
        [("a", "finished", 0), (None, "running", None)],
    ),
    ("a line that was never run", Pane().line("a").prompt().start(), [(None, "running", None)]),
    ("an end without status", Pane().start("make").end(None), [("make", "finished", None)]),
    ("an end without a start", Pane().prompt().end(130).prompt(), []),
    ("an interrupted prompt", Pane().prompt().end(130).prompt().start("a").end(), [("a", "finished", 0)]),
    ("a second end", Pane().start("a").end(1).end(2), [("a", "finished", 1)]),
    ("a prompt that is drawn again", Pane().prompt().prompt().prompt().start("a").end(), [("a", "finished", 0)]),
    ("a prompt without an end", Pane().start("a").prompt(), [("a", "lost", None)]),
    ("a lost one stays lost", Pane().start("a").prompt().end(0), [("a", "lost", None)]),
    ("a start without an end", Pane().start("a").start("b").end(), [("a", "lost", None), ("b", "finished", 0)]),
    ("the end of the epoch", Pane().start("a").over(), [("a", "lost", None)]),
    (
        "a shell in a shell",
        Pane().prompt(aid="1").start("bash", aid="1").prompt(aid="2").start("ls", aid="2").end(3, aid="2")
        .prompt(aid="2").end(0, aid="1").prompt(aid="1"),
        [("bash", "finished", 0), ("ls", "finished", 3)],
    ),
    (
        "a shell in a shell that is left amid a command",
        Pane().prompt(aid="1").start("ssh far").prompt(aid="2").start("sleep").end(255, aid="1"),
        [("ssh far", "finished", 255), ("sleep", "lost", None)],
    ),
    (
        "only prompts and ends name their shell",
        Pane().prompt(aid="7").start("a").end(1, aid="7").prompt(aid="7").start("b").end(2, aid="7"),
        [("a", "finished", 1), ("b", "finished", 2)],
    ),
    (
        "an interrupted prompt of an inner shell",
        Pane().prompt(aid="1").start("bash").prompt(aid="2").end(130, aid="2").prompt(aid="2"),
        [("bash", "running", None)],
    ),
    (
        "the line of an inner command is not the outer one's",
        Pane().prompt(aid="1").start(aid="1").prompt(aid="2").line("ls", aid="2").start(aid="2"),
        [(None, "running", None), ("ls", "running", None)],
    ),
    (
        "a shell that became another one keeps its name",
        Pane().prompt(aid="1").start("exec bash", aid="1").prompt(aid="1"),
        [("exec bash", "lost", None)],
    ),
    ("an unproven command when proof begins", Pane().start("evil").prompt(ours=True), [("evil", "lost", None)]),
    (
        "a line forged before the first proof",
        Pane().line("evil").start(ours=True).end(ours=True),
        [(None, "finished", 0)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("pane", "story"), [case[1:] for case in CONVERSATIONS], ids=[case[0] for case in CONVERSATIONS]
)
def test_marks_determine_the_commands(pane: Pane, story: list) -> None:
    assert pane.story == story


def test_a_command_has_its_times_places_and_folder() -> None:
    pane = Pane()
    pane.shells.apply_mark(Mark(kind="cwd", offset=1, text="/src"), 1)
    pane.prompt().start("make").end(2)
    assert pane.told[30] == CommandUpdate(
        start=30, started_at=3000, line="make", cwd="/src", ended_at=4000, exit_code=2, end=40, status="finished"
    )
    assert pane.edges == [CommandBoundary(30, 29, False), CommandBoundary(30, 39, True)]


def test_a_lost_command_has_an_edge_but_no_end_in_time() -> None:
    pane = Pane().start("a").prompt()
    assert (pane.told[10].end, pane.told[10].ended_at) == (20, None)
    assert pane.edges == [CommandBoundary(10, 9, False), CommandBoundary(10, 19, True)]


def test_an_unproven_command_is_lost_at_the_first_proven_mark_with_a_row() -> None:
    pane = Pane().start("evil").line("ls", ours=True)
    assert pane.story == [("evil", "running", None)]
    pane.start(ours=True)
    assert pane.story == [("evil", "lost", None), ("ls", "running", None)]
    assert pane.edges == [CommandBoundary(10, 9, False), CommandBoundary(10, 29, True), CommandBoundary(30, 29, False)]


def test_only_a_start_and_an_end_with_proof_are_proof() -> None:
    assert Pane().start("a", ours=True).end(ours=True).told[10].is_proven
    assert Pane().start("a", ours=True).end().told[10].status == "running"
    assert not Pane().start("a").end(ours=True).told[10].is_proven


def test_the_folder_reported_by_visual_studio_code_counts() -> None:
    shells = ShellTracker(None)
    for params in ({"Cwd": "/a b"}, {}):
        shells.apply_mark(Mark(kind="prompt_property", offset=1, params=params), 1)
        assert shells.commands_state.shells.cwd == "/a b"


def test_shells_without_end_are_forgotten_from_the_outside() -> None:
    pane = Pane()
    for number in range(MAX_SHELL_DEPTH + 3):
        pane.start(f"shell {number}", aid=str(number))
    assert len(pane.shells.commands_state.shells.running) == MAX_SHELL_DEPTH
    assert [told.status for told in pane.told.values()] == ["lost"] * 3 + ["running"] * MAX_SHELL_DEPTH


def test_other_marks_change_nothing() -> None:
    shells = Pane().start("a").shells
    before = shells.commands_state
    shells.apply_mark(Mark(kind="alt_screen_on", offset=99), 9)
    assert shells.commands_state == before
