"""Collect JSON lines from output."""

from termvisor.pipeline.json_lines import JsonLineCollector
from termvisor.terminal.line_assembler import LINE_LIMIT, SettledLine
from termvisor.terminal.text_decoder import Delta, TextDecoder

EVENT = '{"type":"turn.started"}'


def printed(*pieces: bytes, printout: JsonLineCollector | None = None) -> list[str]:
    """What is taken of these bytes, read piece by piece."""
    stage, found = TextDecoder(), printout or JsonLineCollector()
    offset = 0
    for data in pieces:
        lines = stage.feed(Delta(1, offset, data, 5)).lines
        found.collect_lines(lines, [line.text for line in lines])
        offset += len(data)
    return [line.text for line in found.take_lines()]


def test_an_object_alone_on_its_line_is_taken_with_its_place_and_time():
    found = JsonLineCollector()
    found.collect_lines([SettledLine(EVENT, 10, 35, 7)], [EVENT.replace("turn", "***")])
    (line,) = found.take_lines()
    assert (line.at, line.end, line.text) == (7, 35, '{"type":"***.started"}')
    assert found.take_lines() == []


def test_however_the_bytes_are_cut():
    data = f"$ codex exec --json\r\n{EVENT}\r\n".encode()
    for at in range(len(data)):
        assert printed(data[:at], data[at:]) == [EVENT]


def test_a_shell_may_set_up_the_terminal_before_it():
    assert printed(f"\x1b[?2004l\r{EVENT}\r\n".encode()) == [EVENT]


def test_json_inside_or_at_an_unfinished_line_is_ignored():
    for data in (f"  {EVENT}\r\n", f"> {EVENT}\r\n", EVENT):
        assert printed(data.encode()) == []


def test_the_rest_of_a_line_that_was_too_long_is_no_line():
    long = '{"type":"item.completed","item":"'
    start = long + "x" * (LINE_LIMIT - len(long))
    assert printed(f"{start}{EVENT}\r\n{EVENT}\r\n".encode()) == [EVENT]
    found = JsonLineCollector()
    assert printed(start.encode(), f"{EVENT}\r\n".encode(), printout=found) == []


def test_only_the_last_ones_are_kept():
    found = printed("".join(f'{{"type":"n","n":{number}}}\r\n' for number in range(1000)).encode())
    assert len(found) == 128
    assert found[-1] == '{"type":"n","n":999}'
