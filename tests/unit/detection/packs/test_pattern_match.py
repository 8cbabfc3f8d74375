from termvisor.detection.packs.pattern_match import compile_pattern, find_match, find_match_ending_after
from tests.unit.detection.packs.rule_factory import build_rule


def test_captures_are_the_groups_that_took_part_each_on_one_line() -> None:
    found = find_match(build_rule(r"at (?P<at>\d+\s+\w+)|in (?P<hours>\d+)"), "at 3\n  pm")
    assert found is not None
    assert found.captures == {"at": "3 pm"}


def test_a_name_with_two_underscores_is_another_spelling_of_the_same() -> None:
    either = build_rule(r"(?P<left>\d+)% left|left: (?P<left__2>\d+)%")
    assert [find_match(either, text).captures for text in ("5% left", "left: 5%")] == [{"left": "5"}] * 2  # type: ignore[union-attr]


def test_without_an_anchor_nothing_is_found() -> None:
    assert find_match(build_rule("a+", anchors=("b", "c")), "aaa") is None
    assert find_match(build_rule("a+", anchors=("b", "c")), "aaac") is not None


def test_the_match_that_ends_behind_a_place_is_found() -> None:
    match = find_match_ending_after(build_rule(r"\d+"), "1\n22", 2)
    assert match is not None
    assert match.span() == (2, 4)


def test_classes_know_ascii_only() -> None:
    assert compile_pattern(r"^\w+$").search("é") is None
