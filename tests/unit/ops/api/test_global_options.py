import pytest

from termvisor.errors import BadRequest
from termvisor.ops.api.global_options import Options, split


@pytest.mark.parametrize(
    ("argv", "options", "rest"),
    [
        (["panes"], Options(), ["panes"]),
        (["--json", "panes"], Options(format="json"), ["panes"]),
        (["panes", "--format", "markdown", "-q"], Options(format="markdown", is_quiet=True), ["panes"]),
        (["panes", "--format=plain", "--help"], Options(format="plain", wants_help=True), ["panes"]),
        (["search", "--", "-q", "--json"], Options(), ["search", "--", "-q", "--json"]),
    ],
)
def test_general_options_may_stand_anywhere_before_the_double_dash(
    argv: list[str], options: Options, rest: list[str]
) -> None:
    assert split(argv) == (options, rest)


@pytest.mark.parametrize("argv", [["--format", "xml"], ["--format"], ["--format="]])
def test_an_unknown_format_is_refused(argv: list[str]) -> None:
    with pytest.raises(BadRequest, match="is not one of auto, json, markdown, plain"):
        split(argv)


def test_auto_is_json_for_robots_and_plain_for_people() -> None:
    assert Options().form(is_robot=True) == "json"
    assert Options().form(is_robot=False) == "plain"
    assert Options(format="markdown").form(is_robot=True) == "markdown"


def test_the_forms_of_a_stream_are_known_by_their_usual_names() -> None:
    assert split(["--format", "jsonl"])[0].form(is_robot=False) == "json"
    assert split(["--format=table"])[0].form(is_robot=True) == "plain"
