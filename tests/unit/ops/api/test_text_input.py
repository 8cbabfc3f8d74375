import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import BadRequest
from termvisor.ops.api.dispatch import Caller
from termvisor.ops.api.text_input import LIMIT, filled, named, source, text_of
from termvisor.ops.input.send_text import SendText
from termvisor.testing.asking import ask, collect, lively

TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1)


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        (SendText(pane="1", text="make"), None),
        (SendText(pane="1"), None),
        (SendText(pane="1", text="-"), "-"),
        (SendText(pane="1", stdin=True), "-"),
        (SendText(pane="1", file="-"), "-"),
        (SendText(pane="1", file="task.md"), "task.md"),
    ],
)
def test_where_the_text_comes_from(wanted: SendText, place: str | None) -> None:
    assert source(wanted) == place


@pytest.mark.parametrize(
    "wanted",
    [
        SendText(pane="1", text="make", stdin=True),
        SendText(pane="1", text="make", file="f"),
        SendText(pane="1", file="f", stdin=True),
    ],
)
def test_a_text_is_given_once(wanted: SendText) -> None:
    with pytest.raises(BadRequest, match="more than once"):
        source(wanted)


def test_a_file_is_seen_from_the_caller_s_folder() -> None:
    assert (named("task.md", "/home/me"), named("/tmp/x", "/home/me"), named("-", "/home/me")) == (
        "/home/me/task.md",
        "/tmp/x",
        "-",
    )


@given(TEXTS)
def test_a_file_with_a_newline_at_its_end_has_the_text_without_it(text: str) -> None:
    assert text_of(f"{text}\n".encode(), "f") == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"ab\xffc", "f is not UTF-8 at byte 2"),
        (b"ab\0c", "f has a NUL at byte 2"),
        (b"\n", "f is empty"),
        (b"x" * (LIMIT + 1), f"f has more than {LIMIT} bytes"),
    ],
    ids=["not text", "nul", "empty", "long"],
)
def test_what_cannot_be_typed_is_told_with_its_place(data: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        text_of(data, "f")


def test_the_longest_text_is_taken_whole() -> None:
    assert len(text_of(b"x" * LIMIT + b"\n", "f")) == LIMIT


def test_what_was_brought_stands_in_for_where_it_came_from() -> None:
    assert filled(SendText(pane="1", file="f", key="k"), b"make\n") == SendText(pane="1", text="make", key="k")
    with pytest.raises(BadRequest, match="stdin cannot be read: gone"):
        filled(SendText(pane="1", stdin=True), b"", "gone")


async def test_the_caller_s_side_is_asked_for_the_text_and_then_it_is_typed() -> None:
    world = await lively()
    line = ("send", "1", "--file", "task.md", "--key", "k")
    wanted = await collect(world, Caller(argv=line, is_robot=True, cwd="/home/me"))
    assert (wanted.source, wanted.out, world.door.done) == ("/home/me/task.md", "", [])
    await collect(world, Caller(argv=line, is_robot=True, cwd="/home/me", given=b"fix\nit\n"))
    ((action, terms),) = world.door.done
    assert (action.text, terms.key) == ("fix\nit", "k")


async def test_a_program_that_calls_by_name_gives_the_text_itself() -> None:
    answered = await ask(await lively(), "robot", "send", "1")
    assert answered.envelope["error"]["message"] == "missing: <text>"
