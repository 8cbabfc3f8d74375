"""The comparison itself: what is lost, invented or explained is found."""

from tests.live.text_differential.comparison import Comparison, DifferentialReport, compare_texts
from tests.live.text_differential.scenario import Scenario, ScenarioRun
from tests.recordings.terminal_recording import Recording, Resize

RUN = ScenarioRun(Scenario("sample", "programs", "true"), 80, 24)


def compare(text: list[str], ours: list[str], output: bytes = b"", earlier: tuple[str, ...] = ()) -> Comparison:
    """Compare texts of a pane whose bytes, shown again without an erased history, give one line more."""
    recording = Recording("sample", 80, 24, output, tuple(text), (Resize(0, 80, 24),) if earlier else (), (earlier,))
    return compare_texts(RUN, recording, tuple(ours), lambda changed: ("shown before", *changed.text))


def test_the_same_text_is_equal() -> None:
    assert compare(["a", "", "b"], ["a", "", "b"]).verdict == "equal"


def test_a_line_that_is_nowhere_is_lost() -> None:
    found = compare(["a", "gone", "b"], ["a", "b"])
    assert (found.verdict, found.lost, found.invented) == ("different", ("gone",), ())


def test_one_of_two_same_lines_is_lost() -> None:
    assert compare(["a", "a"], ["a"]).lost == ("a",)


def test_a_line_that_was_never_shown_is_invented() -> None:
    found = compare(["a", "b"], ["a", "a b", "b"])
    assert (found.verdict, found.lost, found.invented) == ("different", (), ("a b",))


def test_a_line_in_two_pieces_is_neither_lost_nor_invented() -> None:
    found = compare(["one two", "x"], ["one", " two", "x"])
    assert (found.verdict, found.lost, found.invented) == ("different", (), ())


def test_erased_history_is_documented_only_if_it_was_shown() -> None:
    assert compare(["b"], ["shown before", "b"], b"\x1b[3J").explanation == "erased_history"
    assert compare(["b"], ["shown before", "b"]).verdict == "different"
    assert compare(["b"], ["something else", "b"], b"\x1b[3J").verdict == "different"


def test_the_pieces_of_a_long_line_are_documented_only_if_they_are_complete() -> None:
    line = "word " * 1000 + "end"
    assert compare([line, "x"], [line[:4000].rstrip(), line[4000:], "x"]).explanation == "long_lines"
    assert compare([line, "x"], [line[:4000].rstrip(), line[4100:], "x"]).verdict == "different"


def test_rewritten_history_is_documented_only_if_tmux_forgot_it() -> None:
    assert compare(["new"], ["old", "new"], earlier=("old",)).explanation == "rewritten_history"
    assert compare(["old", "new"], ["old", "old", "new"], earlier=("old",)).verdict == "different"


def test_a_report_counts_by_group_and_collects_what_is_lost() -> None:
    report = DifferentialReport([compare(["a"], ["a"]), compare(["a"], [])])
    assert report.summarize() == "equal/documented/different: all 1/0/1, programs 1/0/1"
    assert (report.share_accepted, report.lost) == (0.5, ["sample-80: a"])


def test_an_unknown_character_is_documented_only_if_nothing_else_differs() -> None:
    output = "a\U000bfc8fb\r\nc".encode()
    assert compare(["ab", "c"], ["a\U000bfc8fb", "c"], output).explanation == "unknown_characters"
    assert compare(["ab", "d"], ["a\U000bfc8fb", "c"], output).verdict == "different"
