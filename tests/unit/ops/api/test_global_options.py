from collections import deque

import pytest

from termvisor.errors import BadRequest
from termvisor.ops.api import arguments
from termvisor.ops.api.arguments import GlobalOptions, split_global_options


@pytest.mark.parametrize(
    ("argv", "options", "rest"),
    [
        (["panes"], GlobalOptions(), ["panes"]),
        (["--json", "panes"], GlobalOptions(format="json"), ["panes"]),
        (["panes", "--format", "markdown", "-q"], GlobalOptions(format="markdown", is_quiet=True), ["panes"]),
        (["panes", "--format=plain", "--help"], GlobalOptions(format="plain", wants_help=True), ["panes"]),
        (["panes", "--full", "--fields", "a,b.c"], GlobalOptions(is_full=True, fields=("a", "b.c")), ["panes"]),
        (["search", "--", "-q", "--json"], GlobalOptions(), ["search", "--", "-q", "--json"]),
    ],
)
def test_global_options_are_accepted_anywhere_before_the_double_dash(
    argv: list[str], options: GlobalOptions, rest: list[str]
) -> None:
    assert split_global_options(argv) == (options, rest)


@pytest.mark.parametrize("argv", [["--format", "xml"], ["--format"], ["--format="]])
def test_an_unknown_format_is_rejected(argv: list[str]) -> None:
    with pytest.raises(BadRequest, match="is not one of auto, json, markdown, plain"):
        split_global_options(argv)


def test_auto_is_json_for_robots_and_plain_for_users() -> None:
    assert GlobalOptions().resolve_format(is_robot=True) == "json"
    assert GlobalOptions().resolve_format(is_robot=False) == "plain"
    assert GlobalOptions(format="markdown").resolve_format(is_robot=True) == "markdown"


def test_stream_formats_have_their_usual_names() -> None:
    assert split_global_options(["--format", "jsonl"])[0].resolve_format(is_robot=False) == "json"
    assert split_global_options(["--format=table"])[0].resolve_format(is_robot=True) == "plain"


class CountedDeque(deque):
    """Counts the words that are moved when the first one is removed."""

    moved = 0

    def popleft(self):
        CountedDeque.moved += 1
        return super().popleft()


def test_each_word_is_read_once(monkeypatch):
    monkeypatch.setattr(arguments, "deque", CountedDeque)
    words = ["a"] * 500_000
    assert split_global_options(["--json", *words]) == (GlobalOptions(format="json"), words)
    assert CountedDeque.moved == 500_001
