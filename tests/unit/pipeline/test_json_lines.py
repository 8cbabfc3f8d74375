"""Collect JSON lines from output."""

from termvisor.pipeline.json_lines import JsonLineCollector
from termvisor.terminal.line_assembler import LINE_LIMIT, SettledLine
from termvisor.terminal.text_decoder import Delta, TextDecoder

EVENT = '{"type":"turn.started"}'


def collect_lines(*pieces: bytes, collector: JsonLineCollector | None = None) -> list[str]:
    """Return the JSON lines of these bytes, read piece by piece."""
    stage, found = TextDecoder(), collector or JsonLineCollector()
    offset = 0
    for data in pieces:
        lines = stage.feed(Delta(1, offset, data, 5)).lines
        found.collect_lines(lines, [line.text for line in lines])
        offset += len(data)
    return [line.text for line in found.take_lines()]


def test_an_object_alone_on_its_line_has_its_offset_and_time():
    found = JsonLineCollector()
    found.collect_lines([SettledLine(EVENT, 10, 35, 7)], [EVENT.replace("turn", "***")])
    (line,) = found.take_lines()
    assert (line.at, line.end, line.text) == (7, 35, '{"type":"***.started"}')
    assert found.take_lines() == []


def test_chunk_borders_do_not_change_the_json_lines():
    data = f"$ codex exec --json\r\n{EVENT}\r\n".encode()
    for at in range(len(data)):
        assert collect_lines(data[:at], data[at:]) == [EVENT]


def test_terminal_sequences_before_the_object_are_ignored():
    assert collect_lines(f"\x1b[?2004l\r{EVENT}\r\n".encode()) == [EVENT]


def test_json_inside_or_at_an_unfinished_line_is_ignored():
    for data in (f"  {EVENT}\r\n", f"> {EVENT}\r\n", EVENT):
        assert collect_lines(data.encode()) == []


def test_the_rest_of_a_too_long_line_is_ignored():
    long = '{"type":"item.completed","item":"'
    start = long + "x" * (LINE_LIMIT - len(long))
    assert collect_lines(f"{start}{EVENT}\r\n{EVENT}\r\n".encode()) == [EVENT]
    found = JsonLineCollector()
    assert collect_lines(start.encode(), f"{EVENT}\r\n".encode(), collector=found) == []


def test_only_the_last_lines_are_kept():
    found = collect_lines("".join(f'{{"type":"n","n":{number}}}\r\n' for number in range(1000)).encode())
    assert len(found) == 128
    assert found[-1] == '{"type":"n","n":999}'
