"""Report overwritten text exactly if a piece of a run remains."""

import pytest

from termvisor.terminal.overwritten_text import OverwriteTracker, OverwrittenLine
from termvisor.terminal.text_decoder import TextDecoder
from tests.unit.terminal.decoder_driver import build_delta

RUN = "aB3dE5gH7jK9mN1pQ2rS4tU6"


def list_overwritten(data: str) -> list[str]:
    return [one.text for one in TextDecoder().feed(build_delta(data.encode())).overwritten]


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
        (f"x {RUN}\x1b[2G\x1b[P", f"x {RUN}"),
        (f"{RUN} ok\x1b[3D\x1b[P", f"{RUN} ok"),
        (f"{RUN}  \x1b[2Dok", f"{RUN}  "),
        (f"{RUN}\r\x1b[{len(RUN)}Cok", RUN),
    ],
)
def test_a_run_joined_to_other_text_is_reported_as_it_was(data, run):
    assert list_overwritten(data) == [run]


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
        f"{RUN}\r\x1b[K",
        f"{RUN}\x1b[2K",
        f"ok {RUN}\rno",
        "12% of all\r13% of all",
        "short12\rsh",
        f"{RUN}\x1b[3C more",
    ],
)
def test_nothing_is_reported_if_all_is_erased_or_kept_or_little_remains(data):
    assert list_overwritten(data) == []


def test_a_run_joined_freed_and_joined_again_is_reported_free():
    assert list_overwritten(f"ok{RUN}\r- \rok") == [f"ok{RUN}", f"- {RUN}"]


def test_a_run_overwritten_character_by_character_is_reported_once():
    assert list_overwritten(RUN + "\r" + "x y z " * 2) == [RUN]


def test_each_line_is_named_by_its_start():
    stage = TextDecoder()
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
