"""Report overwritten text exactly if a piece of a run remains."""

import pytest

from termvisor.terminal.overwritten_text import OverwriteTracker, OverwrittenLine
from termvisor.terminal.text_decoder import TextDecoder
from tests.unit.terminal.decoder_driver import build_delta

RUN = "aB3dE5gH7jK9mN1pQ2rS4tU6"


def list_overwritten(data: str) -> list[str]:
    return [one.text.rstrip() for one in TextDecoder(80, 24).feed(build_delta(data.encode())).overwritten]


@pytest.mark.parametrize(
    "over",
    [
        "\rfour",
        "\x1b[9D  and so on",
        "\x1b[12D \x1b[3D",
        "\x1b[8D\x1b[P",
        "\x1b[12D\x1b[@",
        "\x1b[9D\x1b[K",
        "\x1b[9D\x1b[2X",
    ],
)
def test_a_partly_overwritten_run_is_reported_as_it_was(over):
    assert list_overwritten(RUN + over) == [RUN]


@pytest.mark.parametrize(
    ("data", "run"),
    [
        (f"{RUN}\r\x1b[2@ok", f"  {RUN}"),
        (f"{RUN}\r\x1b[2@o\x1b[Dok", f"o {RUN}"),
        (f"- {RUN}\rok", f"- {RUN}"),
        (f"ab:{RUN}\rok", f"ab:{RUN}"),
        (f"x {RUN}\x1b[2G\x1b[P", f"x {RUN}"),
        (f"{RUN} ok\x1b[3D\x1b[P", f"{RUN} ok"),
        (f"{RUN}  \x1b[2Dok", f"{RUN}  "),
        (f"{RUN}\r\x1b[{len(RUN)}Cok", RUN),
    ],
)
def test_a_run_joined_to_other_text_is_reported_as_it_was(data, run):
    assert list_overwritten(data) == [run.rstrip()]


@pytest.mark.parametrize(
    "data",
    [
        f"{RUN}\r\x1b[2@",
        f"{RUN}\r\x1b[2@-:",
        f"{RUN}\r\x1b[3@ok",
        f"- {RUN}\r| ",
        f"{RUN}\r{RUN[:4]}{RUN[4:]}and{RUN}",
        f"x {RUN}\r\x1b[{len(RUN) + 2}C: ok",
        f"{RUN}\r\n{RUN}",
        f"{RUN}\r{RUN}",
        f"ok {RUN}\rno",
        "12% of all\r13% of all",
        "short12\rsh",
        f"{RUN}\x1b[3C more",
    ],
)
def test_nothing_is_reported_if_all_is_kept_or_little_remains(data):
    assert list_overwritten(data) == []


@pytest.mark.parametrize(
    "erased", ["\x1b[2K", "\x1b[1J\r", "\r\x1b[M", "\x1b[23T\x1b[T", "\rnothing of it remains in the row", "\r\x1b[99P"]
)
def test_a_row_with_a_long_word_is_reported_when_all_of_it_goes(erased):
    assert list_overwritten(RUN + erased) == [RUN]


def test_a_row_without_a_long_word_is_not_reported_when_it_goes():
    assert list_overwritten("no long words in this row\x1b[2K") == []


def test_a_row_that_is_painted_again_and_again_is_reported_once():
    assert list_overwritten(f"\x1b[2K\r{RUN}" * 50) == [RUN]


def test_a_run_joined_freed_and_joined_again_is_reported_free():
    assert list_overwritten(f"ok{RUN}\r- \rok") == [f"ok{RUN}", f"- {RUN}"]


def test_a_run_overwritten_character_by_character_is_reported_once():
    assert list_overwritten(RUN + "\r" + "x y z " * 2) == [RUN]


def test_each_line_is_named_by_its_start():
    stage = TextDecoder(80, 24)
    first = stage.feed(build_delta(f"one\r\n{RUN}\rxx".encode()))
    second = stage.feed(build_delta(f"\r\n{RUN}\rxx".encode(), first.overwritten[0].start + len(RUN) + 3))
    assert first.overwritten == (OverwrittenLine(5, RUN),)
    assert second.overwritten == (OverwrittenLine(5 + len(RUN) + 5, RUN),)


def test_overwrites_of_one_line_are_bounded():
    covering = OverwriteTracker()
    for number in range(1000):
        covering.record_overwrite(f"piece{number:04}", 0, f"another{number:04}")
    assert len(covering.take_overwritten()) < 100
    assert covering.take_overwritten() == ()


def test_each_line_has_its_own_bound():
    covering = OverwriteTracker()
    for number in range(100):
        covering.record_overwrite("piece", number, "another")
        covering.record_overwrite("rest", number, "the rest")
    assert len(covering.take_overwritten()) == 200


WRAPPED = f"{'-' * 70} {RUN}"


@pytest.mark.parametrize(
    "over",
    [
        "\r\x1b[2K",
        "\rfour",
        "\x1b[A\x1b[2K",
        "\x1b[A\r\x1b[72Cxx",
        "\r\x1b[M",
        "\r\x1b[L",
        "\x1b[A\r\x1b[M",
        "\x1b[A\x1b[J",
        "\r\x1b[J",
        "\x1b[1J",
    ],
)
def test_a_run_that_is_wrapped_is_reported_whole(over):
    assert list_overwritten(WRAPPED + over)[:1] == [WRAPPED]


def test_a_run_whose_first_row_has_left_is_reported_whole():
    stage = TextDecoder(10, 2)
    output = stage.feed(build_delta(f"ab\r\n{RUN}\r\x1b[2Kx".encode()))
    assert {(one.start, one.text) for one in output.overwritten} == {(4, RUN)}


def test_a_line_that_scrolls_off_whole_is_not_reported():
    assert list_overwritten(f"{WRAPPED}\r\n" * 60) == []


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("password=hunter2\rok", "password=hunter2"),
        ("token: abc123\r\x1b[3Ptok", "token: abc123"),
        ("db://me:pw@host\rXXXXXXX", "db://me:pw@host"),
    ],
)
def test_a_value_whose_name_is_overwritten_is_reported(data, line):
    assert list_overwritten(data)[0] == line


def test_a_value_whose_name_stays_is_not_reported():
    assert list_overwritten("password=abc ok\x1b[2Dno") == []
    assert list_overwritten("12 tokens used\r13") == []
