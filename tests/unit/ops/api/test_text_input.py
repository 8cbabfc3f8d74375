import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import BadRequest
from termvisor.ops.api.dispatch import CommandContext
from termvisor.ops.api.text_input import MAX_TEXT_BYTES, decode_text, find_text_source, insert_text, make_path_absolute
from termvisor.ops.input.send_text import SendTextArgs
from termvisor.testing.operation_calls import build_sample_services, collect_answer, run_command

TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1)


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        (SendTextArgs(pane="1", text="make"), None),
        (SendTextArgs(pane="1"), None),
        (SendTextArgs(pane="1", text="-"), "-"),
        (SendTextArgs(pane="1", stdin=True), "-"),
        (SendTextArgs(pane="1", file="-"), "-"),
        (SendTextArgs(pane="1", file="task.md"), "task.md"),
    ],
)
def test_where_the_text_comes_from(wanted: SendTextArgs, place: str | None) -> None:
    assert find_text_source(wanted) == place


@pytest.mark.parametrize(
    "wanted",
    [
        SendTextArgs(pane="1", text="make", stdin=True),
        SendTextArgs(pane="1", text="make", file="f"),
        SendTextArgs(pane="1", file="f", stdin=True),
    ],
)
def test_a_text_is_given_once(wanted: SendTextArgs) -> None:
    with pytest.raises(BadRequest, match="more than once"):
        find_text_source(wanted)


def test_a_file_is_seen_from_the_caller_s_folder() -> None:
    assert (
        make_path_absolute("task.md", "/home/me"),
        make_path_absolute("/tmp/x", "/home/me"),
        make_path_absolute("-", "/home/me"),
    ) == (
        "/home/me/task.md",
        "/tmp/x",
        "-",
    )


@given(TEXTS)
def test_a_file_with_a_newline_at_its_end_has_the_text_without_it(text: str) -> None:
    assert decode_text(f"{text}\n".encode(), "f") == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"ab\xffc", "f is not UTF-8 at byte 2"),
        (b"ab\0c", "f has a NUL at byte 2"),
        (b"\n", "f is empty"),
        (b"x" * (MAX_TEXT_BYTES + 1), f"f has more than {MAX_TEXT_BYTES} bytes"),
    ],
    ids=["not text", "nul", "empty", "long"],
)
def test_what_cannot_be_typed_is_told_with_its_place(data: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        decode_text(data, "f")


def test_the_longest_text_is_taken_whole() -> None:
    assert len(decode_text(b"x" * MAX_TEXT_BYTES + b"\n", "f")) == MAX_TEXT_BYTES


def test_what_was_brought_stands_in_for_where_it_came_from() -> None:
    assert insert_text(SendTextArgs(pane="1", file="f", key="k"), b"make\n") == SendTextArgs(
        pane="1", text="make", key="k"
    )
    with pytest.raises(BadRequest, match="stdin cannot be read: gone"):
        insert_text(SendTextArgs(pane="1", stdin=True), b"", "gone")


async def test_the_caller_s_side_is_asked_for_the_text_and_then_it_is_typed() -> None:
    world = await build_sample_services()
    line = ("send", "1", "--file", "task.md", "--key", "k")
    wanted = await collect_answer(world, CommandContext(argv=line, is_robot=True, cwd="/home/me"))
    assert (wanted.input_source, wanted.out, world.gate.executed) == ("/home/me/task.md", "", [])
    await collect_answer(world, CommandContext(argv=line, is_robot=True, cwd="/home/me", input_text=b"fix\nit\n"))
    ((action, terms),) = world.gate.executed
    assert (action.text, terms.key) == ("fix\nit", "k")


async def test_a_program_that_calls_by_name_gives_the_text_itself() -> None:
    answered = await run_command(await build_sample_services(), "robot", "send", "1")
    assert answered.envelope["error"]["message"] == "missing: <text>"
