"""Scan lines and screen rows with all rules."""

import pytest

from termvisor.detection.scanner import MAX_LINE_CHARS, RuleScanner, has_cut_line, join_lines
from tests.unit.detection.packs.rule_factory import build_rule

LIMIT = build_rule(r"^limit (?P<at>\d+)$", "tool.limit")
PAIR = build_rule(r"^begin$\n(?:.*\n){0,2}end (?P<how>\w+)", "tool.pair", scope="stream")


@pytest.fixture(scope="module")
def scanner() -> RuleScanner:
    return RuleScanner([LIMIT, PAIR])


def scan_texts(scanner: RuleScanner, *texts: str, before: tuple[str, ...] = ()) -> list[tuple[str, int, int, int]]:
    return [(one.rule.id, one.line, one.start, one.end) for one in scanner.scan_lines(texts, before)]


def test_a_match_has_its_line_span_and_captures(scanner: RuleScanner) -> None:
    (match,) = scanner.scan_lines(["x", "limit 42", "no limit 3"])
    assert (match.rule, match.line, match.start, match.end, match.captures) == (LIMIT, 1, 0, 8, {"at": "42"})


def test_a_stream_rule_matches_over_at_most_four_lines(scanner: RuleScanner) -> None:
    assert scan_texts(scanner, "begin", "end well") == [("tool.pair", 1, -6, 8)]
    assert scan_texts(scanner, "begin", "a", "b", "end well") == [("tool.pair", 3, -10, 8)]
    assert scan_texts(scanner, "begin", "a", "b", "c", "end well") == []


def test_a_match_across_calls_is_found_once(scanner: RuleScanner) -> None:
    assert scan_texts(scanner, "end well", before=("x", "begin", "a")) == [("tool.pair", 0, -8, 8)]
    assert scan_texts(scanner, "x", before=("begin", "end well")) == []
    assert scan_texts(scanner, "x", before=("limit 1",)) == []


def test_a_split_line_is_matched_as_one(scanner: RuleScanner) -> None:
    needle_scanner = RuleScanner([build_rule(r"needle (?P<at>\d+);", "tool.needle"), LIMIT])
    long = "x" * (MAX_LINE_CHARS - 4) + "need"
    assert scan_texts(needle_scanner, long, "le 7; and on") == [("tool.needle", 1, -4, 5)]
    assert scan_texts(needle_scanner, "x" * MAX_LINE_CHARS, "limit 3") == []
    assert scan_texts(needle_scanner, "le 7;", before=(long,)) == [("tool.needle", 0, -4, 5)]


def test_a_very_long_text_is_scanned_in_sections() -> None:
    needle_scanner = RuleScanner([build_rule(r"needle (?P<at>\d+);", "tool.needle")])
    text = "".join("y" * 4000 + f"needle {number};" for number in range(5))
    assert [match.captures["at"] for match in needle_scanner.scan_lines([text])] == ["0", "1", "2", "3", "4"]


def test_shell_stream_rules_do_not_match_screen_rows(scanner: RuleScanner) -> None:
    one = RuleScanner(
        [build_rule("^shell", "a.shell", scope="stream"), build_rule("^shell", "b.agent", scope="stream", agent="x")]
    )
    assert [match.rule.id for match in one.scan_lines(["shell"])] == ["a.shell", "b.agent"]
    assert [match.rule.id for match in one.scan_rows(["shell"])] == ["b.agent"]
    assert [match.rule.id for match in scanner.scan_rows(["limit 9"])] == ["tool.limit"]


def test_no_rules_or_no_lines_give_no_match(scanner: RuleScanner) -> None:
    assert RuleScanner([]).scan_lines(["a"]) == []
    assert scanner.scan_lines([]) == []


def test_lone_surrogates_are_scanned(scanner: RuleScanner) -> None:
    assert scan_texts(scanner, "\ud800", "limit 3", "a\nb") == [("tool.limit", 1, 0, 7)]


def test_all_of_many_matches_in_one_batch_are_found() -> None:
    scanner = RuleScanner([LIMIT])
    texts = [f"limit {number}" if number % 3 == 0 else "x" for number in range(500)]
    assert [match.line for match in scanner.scan_lines(texts)] == list(range(0, 500, 3))


@pytest.mark.parametrize(
    ("lines", "is_cut"),
    [
        ([], False),
        (["a"] * 9000, False),
        (["x" * (MAX_LINE_CHARS - 1)] * 3, False),
        (["a", "x" * MAX_LINE_CHARS], True),
        (["x" * MAX_LINE_CHARS, "a"], True),
        (["a" * 90] * 100 + ["x" * MAX_LINE_CHARS] + ["b"] * 100, True),
    ],
)
def test_split_lines_are_found(lines: list[str], is_cut: bool) -> None:
    assert has_cut_line("\n".join(lines)) == is_cut


def test_split_lines_are_joined_and_offsets_are_located() -> None:
    rows = join_lines(["a", "x" * MAX_LINE_CHARS, "y" * MAX_LINE_CHARS, "z", "b"])
    assert [len(text) for text in rows.texts] == [1, 2 * MAX_LINE_CHARS + 1, 1]
    assert list(rows.first_lines) == [0, 1, 4]
    assert [
        rows.locate_offset(1, offset) for offset in (0, MAX_LINE_CHARS - 1, MAX_LINE_CHARS, 2 * MAX_LINE_CHARS)
    ] == [(1, 0), (1, 0), (2, MAX_LINE_CHARS), (3, 2 * MAX_LINE_CHARS)]
    assert not rows.is_open(1)
    assert join_lines(["a", "x" * MAX_LINE_CHARS]).is_open(1)
