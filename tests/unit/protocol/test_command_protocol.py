"""Requests and frames of the command protocol survive encoding, at any cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.protocol import command_protocol

WORDS = st.lists(st.text(st.characters(blacklist_categories=["Cs"])))


@given(WORDS, st.text(st.characters(blacklist_categories=["Cs"])), st.booleans())
def test_a_command_line_survives_encoding(argv: list[str], cwd: str, is_robot: bool) -> None:
    line = command_protocol.encode_request(
        command_protocol.CommandRequest(tuple(argv), is_robot, cwd, command_protocol.TerminalInfo(132, True, False))
    )
    decoded = command_protocol.decode_request(line[:-1])
    assert decoded.input_text is None
    assert line.index(b"\n") == len(line) - 1
    assert (decoded.argv, decoded.is_robot, decoded.cwd) == (tuple(argv), is_robot, cwd)
    assert (decoded.terminal.width, decoded.terminal.is_terminal, decoded.terminal.colour) == (132, True, False)


@given(st.binary(), st.text(st.characters(blacklist_categories=["Cs"]), min_size=1))
def test_an_input_text_or_its_read_error_survives_encoding(data: bytes, trouble: str) -> None:
    asked = command_protocol.CommandRequest(("send", "7", "--stdin"))
    text = command_protocol.decode_request(
        command_protocol.encode_request(asked.with_input(command_protocol.InputText(data)))[:-1]
    )
    assert text.input_text is not None
    assert (text.argv, text.input_text.data, text.input_text.error) == (asked.argv, data, "")
    none = command_protocol.decode_request(
        command_protocol.encode_request(asked.with_input(command_protocol.InputText(error=trouble)))[:-1]
    )
    assert none.input_text is not None
    assert (none.input_text.data, none.input_text.error) == (b"", trouble)


def test_an_input_text_is_kept_when_the_command_is_confirmed() -> None:
    given = command_protocol.InputText(b"make test")
    again = command_protocol.CommandRequest(("send", "7")).with_input(given).with_consent("--yes-for-session")
    assert (again.argv, again.input_text) == (("send", "7", "--yes-for-session"), given)


def test_bytes_of_an_argument_that_are_not_utf8_arrive_as_surrogates() -> None:
    line = command_protocol.encode_request(command_protocol.CommandRequest(("a\udcffb",)))
    assert command_protocol.decode_request(line).argv == ("a\udcffb",)


@given(st.lists(st.tuples(st.sampled_from([b"o", b"e"]), st.binary(min_size=1))), st.integers(1, 7))
def test_output_frames_survive_any_chunk_border(pieces: list[tuple[bytes, bytes]], step: int) -> None:
    sent = (
        command_protocol.encode_frame(b"a", 1)
        + b"".join(command_protocol.encode_output(kind, data) for kind, data in pieces)
        + command_protocol.encode_frame(b"x", 3)
    )
    frames = command_protocol.FrameDecoder()
    decoded = [frame for start in range(0, len(sent), step) for frame in frames.feed(sent[start : start + step])]
    assert [(kind, body) for kind, _, body in decoded] == [(b"a", b""), *pieces, (b"x", b"")]
    assert decoded[-1][1] == 3


def test_large_output_is_split_into_bounded_frames() -> None:
    data = b"x" * (command_protocol.MAX_FRAME_BYTES * 2 + 1)
    decoded = command_protocol.FrameDecoder().feed(command_protocol.encode_output(b"o", data))
    assert [number for _, number, _ in decoded] == [
        command_protocol.MAX_FRAME_BYTES,
        command_protocol.MAX_FRAME_BYTES,
        1,
    ]
    assert b"".join(body for _, _, body in decoded) == data


@pytest.mark.parametrize("line", [b"!2", b"!2\x1f\x1f0\x1fwide\x1f0\x1f0\x1f/", b"!2\x1f\x1f0\x1f80"])
def test_a_request_with_missing_or_wrong_fields_is_malformed(line: bytes) -> None:
    with pytest.raises(command_protocol.MalformedCommand):
        command_protocol.decode_request(line)


@pytest.mark.parametrize("data", [b"no frame at all, just a long text", b"oo 1\nx", b"o x\n", b"o 99999999999\n"])
def test_bytes_that_are_not_frames_are_malformed(data: bytes) -> None:
    with pytest.raises(command_protocol.MalformedCommand):
        command_protocol.FrameDecoder().feed(data)


def test_the_yes_option_is_inserted_before_the_double_dash() -> None:
    assert command_protocol.CommandRequest(("db", "restore", "--", "-x"), cwd="/a").with_consent().argv == (
        "db",
        "restore",
        "--yes",
        "--",
        "-x",
    )
    assert command_protocol.CommandRequest(("setup", "shell"), cwd="/a").with_consent().cwd == "/a"


def test_the_version_is_parsed_before_the_rest_of_a_request() -> None:
    assert command_protocol.parse_version(b"!7\x1fwhatever this may mean") == 7
    with pytest.raises(command_protocol.MalformedCommand):
        command_protocol.parse_version(b"!x\x1f")


def test_a_mismatch_says_which_side_to_upgrade() -> None:
    assert "daemon is older" in command_protocol.describe_mismatch(client=2, daemon=1)
    assert "visor daemon restart" in command_protocol.build_mismatch_hint(client=2, daemon=1)
    assert "this visor is older" in command_protocol.describe_mismatch(client=1, daemon=2)
    assert "Upgrade this visor" in command_protocol.build_mismatch_hint(client=1, daemon=2)
