from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.did_you_mean import find_close_matches
from termvisor.ops.api.arguments import (
    convert_arguments,
    describe_arguments,
    list_arguments,
    make_paths_absolute,
    parse_arguments,
    render_arguments,
    render_usage,
    split_global_options,
)
from termvisor.ops.history.export import ExportArgs
from termvisor.ops.panes.wait_for import WaitForArgs


class OrderArgs(Struct, frozen=True, kw_only=True):
    name: Annotated[str, Meta(description="What it is called.", extra={"positional": "one"})]
    note: Annotated[str | None, Meta(description="Anything.", extra={"positional": "rest"})] = None
    portions: Annotated[int, Meta(description="How many.", ge=1, le=9, extra={"short": ("-p",)})] = 2
    heat: Annotated[Literal["mild", "hot"], Meta(description="How hot.")] = "mild"
    minutes: Annotated[Annotated[float, Meta(ge=0)] | None, Meta(description="How long.")] = None
    spice: Annotated[tuple[str, ...], Meta(description="What goes in.", extra={"also": ("--herb",)})] = ()
    to_go: Annotated[bool, Meta(description="In a box.")] = False


@pytest.mark.parametrize(
    ("words", "dish"),
    [
        (["soup"], OrderArgs(name="soup")),
        (["soup", "no", "salt"], OrderArgs(name="soup", note="no salt")),
        (["--portions", "3", "soup"], OrderArgs(name="soup", portions=3)),
        (["--portions=3", "soup"], OrderArgs(name="soup", portions=3)),
        (["-p", "3", "soup"], OrderArgs(name="soup", portions=3)),
        (["-p3", "soup"], OrderArgs(name="soup", portions=3)),
        (["soup", "--to-go", "--heat", "hot"], OrderArgs(name="soup", to_go=True, heat="hot")),
        (["soup", "--to-go=no"], OrderArgs(name="soup")),
        (["soup", "--spice", "dill", "--herb=mint"], OrderArgs(name="soup", spice=("dill", "mint"))),
        (["soup", "--minutes", "0.5"], OrderArgs(name="soup", minutes=0.5)),
        (["--", "--soup", "-x"], OrderArgs(name="--soup", note="-x")),
        (["-5"], OrderArgs(name="-5")),
        (["-"], OrderArgs(name="-")),
        (["soup", "--spice", "--hot"], OrderArgs(name="soup", spice=("--hot",))),
    ],
)
def test_words_are_parsed_to_arguments(words: list[str], dish: OrderArgs) -> None:
    assert parse_arguments(OrderArgs, words) == dish


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "missing argument: <name>"),
        (["soup", "--portion", "3"], "unknown option --portion"),
        (["soup", "-x"], "unknown option -x"),
        (["soup", "--portions"], "--portions requires a value"),
        (["soup", "--portions", "many"], "--portions: 'many' is not an integer"),
        (["soup", "--minutes", "long"], "--minutes: 'long' is not a number"),
        (["soup", "--to-go=perhaps"], "--to-go: 'perhaps' is not true or false"),
        (["soup", "--portions", "10"], "--portions: Expected `int` <= 9"),
        (["soup", "--heat", "cold"], "--heat: 'cold' is not one of mild, hot"),
        (["soup", "--minutes", "nan"], "--minutes: Expected `float` >= 0.0"),
    ],
)
def test_invalid_arguments_are_rejected_by_name(words: list[str], message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_arguments(OrderArgs, words)
    assert caught.value.message.startswith(message)


def test_a_misspelled_option_suggests_the_closest() -> None:
    with pytest.raises(BadRequest) as caught:
        parse_arguments(OrderArgs, ["soup", "--portoins", "3"])
    assert caught.value.hint == "Did you mean --portions?"
    assert "--to-go" in caught.value.details["options"]


def test_an_option_like_word_of_the_text_gets_a_double_dash_hint() -> None:
    class RestArgs(Struct, frozen=True, kw_only=True):
        text: Annotated[str, Meta(description="All words.", extra={"positional": "rest"})]

    with pytest.raises(BadRequest) as caught:
        parse_arguments(RestArgs, ["ls", "-la"])
    assert caught.value.hint.startswith("If -la is part of the text, put -- before the text.")
    assert parse_arguments(RestArgs, ["--", "ls", "-la"]) == RestArgs(text="ls -la")


def test_extra_words_are_rejected() -> None:
    class SingleArgs(Struct, frozen=True, kw_only=True):
        name: Annotated[str, Meta(description="One word.", extra={"positional": "one"})]

    with pytest.raises(BadRequest, match="unexpected argument 'b'"):
        parse_arguments(SingleArgs, ["a", "b", "c"])


def test_only_arguments_that_differ_from_the_defaults_are_rendered() -> None:
    dish = OrderArgs(name="-soup", portions=3, spice=("a b", ""), to_go=True)
    assert render_arguments(dish) == ["--portions=3", "--spice=a b", "--spice=", "--to-go", "--", "-soup"]


def test_unknown_parameters_are_rejected() -> None:
    with pytest.raises(BadRequest, match="unknown parameter 'colour'"):
        convert_arguments(OrderArgs, {"name": "soup", "colour": "red"})
    with pytest.raises(BadRequest, match="missing required field `name`"):
        convert_arguments(OrderArgs, {})


def test_help_describes_each_argument() -> None:
    assert render_usage("cook", OrderArgs) == "cook <name> [note] [options]"
    rows = dict(describe_arguments(OrderArgs))
    assert rows["-p, --portions <portions>"] == "How many. (default 2)"
    assert rows["--heat <mild|hot>"] == "How hot. (default mild)"
    assert rows["--to-go"] == "In a box."
    assert rows["--herb, --spice <spice>"] == "What goes in."


def test_prefix_matches_come_before_similar_names() -> None:
    assert find_close_matches("sess", ["--session", "sessions", "mess"])[0] == "sessions"
    assert find_close_matches("zzz", ["sessions"]) == []


def test_relative_paths_are_resolved_against_the_client_folder() -> None:
    assert make_paths_absolute(ExportArgs(output="a/b"), "/home/me").output == "/home/me/a/b"
    assert make_paths_absolute(ExportArgs(output="/a"), "/home/me").output == "/a"
    assert make_paths_absolute(ExportArgs(), "/home/me") == ExportArgs()


def test_completion_knows_the_kind_of_a_value() -> None:
    class CallArgs(Struct):
        pane: str
        to: Annotated[str, Meta(extra={"is_path": True})]
        kind: Annotated[str, Meta(extra={"names": "event"})]
        other: str

    assert [argument.value_kind for argument in list_arguments(CallArgs)] == ["pane", "path", "event", ""]


@pytest.mark.parametrize("value", ["2", "2s", "0.5"])
def test_a_duration_after_quiet_is_rejected_with_the_option_that_takes_it(value: str) -> None:
    with pytest.raises(BadRequest) as caught:
        split_global_options(["wait-for", "7", "--quiet", value])
    assert f"--quiet-for {value.removesuffix('s')}" in caught.value.hint
    assert split_global_options(["wait-for", "--quiet", "7", "passed"])[0].is_quiet
    assert split_global_options(["get-text", "7", "--quiet", "--tail", "2"])[0].is_quiet


def test_a_timeout_has_two_names() -> None:
    for name in ("--timeout", "--timeout-secs"):
        assert parse_arguments(WaitForArgs, ["7", "x", name, "5"]).timeout_secs == 5.0
