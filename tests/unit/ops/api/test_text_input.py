import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import BadRequest
from termvisor.ops.api.dispatch import CommandContext
from termvisor.ops.api.text_input import MAX_TEXT_BYTES, decode_text, find_text_source, insert_text, make_path_absolute
from termvisor.ops.input.send_text import SendTextArgs
from termvisor.testing.operation_calls import collect_answer, run_command
from termvisor.testing.sample_services import build_sample_services

TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1)


@pytest.mark.parametrize(
    ("args", "source"),
    [
        (SendTextArgs(pane="1", text="make"), None),
        (SendTextArgs(pane="1"), None),
        (SendTextArgs(pane="1", text="-"), "-"),
        (SendTextArgs(pane="1", stdin=True), "-"),
        (SendTextArgs(pane="1", file="-"), "-"),
        (SendTextArgs(pane="1", file="task.md"), "task.md"),
    ],
)
def test_the_text_is_read_from_argument_file_or_stdin(args: SendTextArgs, source: str | None) -> None:
    assert find_text_source(args) == source


@pytest.mark.parametrize(
    "args",
    [
        SendTextArgs(pane="1", text="make", stdin=True),
        SendTextArgs(pane="1", text="make", file="f"),
        SendTextArgs(pane="1", file="f", stdin=True),
    ],
)
def test_only_one_text_source_is_accepted(args: SendTextArgs) -> None:
    with pytest.raises(BadRequest, match="more than one text source"):
        find_text_source(args)


def test_a_file_is_resolved_against_the_client_folder() -> None:
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
def test_a_trailing_newline_of_a_file_is_removed(text: str) -> None:
    assert decode_text(f"{text}\n".encode(), "f") == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"ab\xffc", "f is not valid UTF-8 at byte 2"),
        (b"ab\0c", "f contains a NUL at byte 2"),
        (b"\n", "f is empty"),
        (b"x" * (MAX_TEXT_BYTES + 1), f"f is larger than {MAX_TEXT_BYTES} bytes"),
    ],
    ids=["not text", "nul", "empty", "long"],
)
def test_text_that_cannot_be_typed_is_rejected_with_its_position(data: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        decode_text(data, "f")


def test_a_text_of_maximum_size_is_accepted() -> None:
    assert len(decode_text(b"x" * MAX_TEXT_BYTES + b"\n", "f")) == MAX_TEXT_BYTES


def test_the_text_replaces_its_source() -> None:
    assert insert_text(SendTextArgs(pane="1", file="f", key="k"), b"make\n") == SendTextArgs(
        pane="1", text="make", key="k"
    )
    with pytest.raises(BadRequest, match="cannot read stdin: gone"):
        insert_text(SendTextArgs(pane="1", stdin=True), b"", "gone")


async def test_a_request_for_input_is_repeated_with_the_text() -> None:
    services = await build_sample_services()
    line = ("send", "1", "--file", "task.md", "--key", "k")
    args = await collect_answer(services, CommandContext(argv=line, is_robot=True, cwd="/home/me"))
    assert (args.input_source, args.out, services.gate.executed) == ("/home/me/task.md", "", [])
    await collect_answer(services, CommandContext(argv=line, is_robot=True, cwd="/home/me", input_text=b"fix\nit\n"))
    ((action, preconditions),) = services.gate.executed
    assert (action.text, preconditions.key) == ("fix\nit", "k")


async def test_a_call_by_name_passes_the_text_directly() -> None:
    answered = await run_command(await build_sample_services(), "robot", "send", "1")
    assert answered.envelope["error"]["message"] == "missing argument: <text>"
