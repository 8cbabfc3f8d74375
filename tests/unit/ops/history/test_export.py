"""Export of lines and raw bytes of a period."""

import base64
import logging

import msgspec
import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.ops.history._report import TimeRange
from termvisor.ops.history.export import export_lines, export_raw
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

KEY = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
PANE = PaneId(1)
FRAME = ReplayFrame(pane=PANE, at=NOON, width=10, height=2, rows=("$", ""))


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.print_lines(services.add_pane(build_shell_facts()).id, *(f"line {number}" for number in range(2500)))
    services.print_lines(services.add_pane(build_shell_facts("%2")).id, "other pane")
    return services


async def test_text_export_has_every_line_in_order(services: FakeServices) -> None:
    result = await run_command(services, "export", "1")
    assert result.out.splitlines() == [f"line {number}" for number in range(2500)]
    assert (await run_command(services, "export", "1", "--text")).out == result.out


async def test_blank_lines_are_exported_in_every_format_of_lines(services: FakeServices) -> None:
    pane = services.add_pane(build_shell_facts("%3")).id
    services.print_lines(pane, "", "one", "", "", "two", "")
    assert (await run_command(services, "export", str(pane), "--text")).out == "\none\n\n\ntwo\n\n"
    for form in (("--jsonl",), ("--format", "json")):
        items = (await run_command(services, "export", str(pane), *form)).items
        assert [item["text"] for item in items] == ["", "one", "", "", "two", ""]


async def test_without_a_pane_all_panes_are_exported(services: FakeServices) -> None:
    assert (await run_command(services, "export")).out.splitlines()[-1] == "other pane"


async def test_jsonl_export_has_one_object_per_line_with_number_and_time(services: FakeServices) -> None:
    rows = (await run_command(services, "export", "2", "--jsonl")).items
    assert rows == [{"form": "jsonl", "pane": 2, "at": "2026-01-01T12:00:00.000Z", "number": 1, "text": "other pane"}]


async def test_since_selects_new_lines() -> None:
    assert (
        await run_command(await build_sample_services(), "export", "1", "--since", "30s")
    ).out == "tests passed\nerror: none\n"


async def test_raw_bytes_are_unchanged_unless_they_contain_secrets(services: FakeServices) -> None:
    services.print_bytes(PANE, b"\x1b[31mred\x1b[0m\r\nsecret " + KEY.encode()[:9])
    services.print_bytes(PANE, KEY.encode()[9:] + b"\r\n")
    services.print_bytes(PANE, b"second epoch", epoch=2)
    out = (await run_command(services, "export", "1", "--raw")).out
    assert out.startswith("\x1b[31mred\x1b[0m\r\nsecret ghp_")
    assert KEY not in out
    assert out.endswith("second epoch")


async def test_unredacted_bytes_are_exact_and_the_export_is_logged(
    services: FakeServices, caplog: pytest.LogCaptureFixture
) -> None:
    services.print_bytes(PANE, KEY.encode())
    with caplog.at_level(logging.WARNING):
        assert (await run_command(services, "export", "1", "--raw", "--unredacted")).out == KEY
    assert "exported raw bytes of pane 1 without redaction" in caplog.text


async def test_robots_get_raw_bytes_in_base64(services: FakeServices) -> None:
    services.print_bytes(PANE, b"\x00\xff\n")
    piece = (await run_command(services, "robot", "export", "1", "--raw")).items[0]
    assert base64.b64decode(piece["data"]) == b"\x00\xff\n"


async def test_a_terminal_never_gets_raw_bytes(services: FakeServices) -> None:
    services.print_bytes(PANE, b"\x1b]52;c;ZXZpbA==\x07hello\r\n")
    assert (await run_command(services, "export", "1", "--raw", is_terminal=True)).out == "hello\n"
    to_file = await run_command(services, "export", "1", "--raw", "--output", "x.raw", is_terminal=True)
    assert (to_file.file, to_file.out) == ("/x.raw", "\x1b]52;c;ZXZpbA==\x07hello\r\n")


async def test_no_file_is_named_when_there_is_nothing_to_export(services: FakeServices) -> None:
    assert (await run_command(services, "export", "9", "--output", "x")).file == ""
    assert (await run_command(services, "export", "1", "--raw", "--output", "x")).file == "/x"


@pytest.mark.parametrize(
    "argv", [("1", "--raw", "--text"), ("--raw",), ("1", "--unredacted"), ("1", "--jsonl", "--unredacted"), ("9",)]
)
async def test_conflicting_options_are_rejected(services: FakeServices, argv: tuple[str, ...]) -> None:
    result = await run_command(services, "robot", "export", *argv)
    assert result.status in (2, 4)
    assert not result.items[0]["ok"]


async def test_a_stored_secret_is_redacted_in_the_export(services: FakeServices) -> None:
    services.print_lines(PaneId(2), f"token {KEY}")
    assert KEY not in (await run_command(services, "export", "2")).out
    assert KEY not in msgspec.json.encode((await run_command(services, "robot", "export", "2")).items).decode()


async def add_recorded_command(services: FakeServices) -> FakeServices:
    """A pane in which a command runs and ends, and then the shell."""
    services.start_command(PANE, "make")
    services.recording.stored_frames.append(FRAME)
    await services.clock.advance(1)
    services.recording.stored_frames.append(replace(FRAME, at=services.clock.now(), rows=("$ make", "ok")))
    services.finish_command(PANE)
    await services.clock.advance(1)
    services.add_event("pane_died", PANE, status=3, signal=None)
    return services


async def test_an_asciicast_has_header_screens_markers_and_exit(services: FakeServices) -> None:
    words = ("export", "1", "--cast", "--cast-version", "3")
    header, *events = (await run_command(await add_recorded_command(services), *words)).items
    assert (header["version"], header["term"]["cols"]) == (3, 10)
    assert [(event[0], event[1]) for event in events] == [(0, "m"), (0, "o"), (1, "o"), (1, "m"), (0, "x")]
    assert [event[2] for event in events if event[1] in "mx"] == ["$ make", "pane_died status=3", "3"]


async def test_an_asciicast_has_the_version_that_every_player_reads(services: FakeServices) -> None:
    header, *events = (await run_command(await add_recorded_command(services), "export", "1", "--cast")).items
    assert (header["version"], header["width"]) == (2, 10)
    assert [(event[0], event[1]) for event in events] == [(0, "m"), (0, "o"), (1, "o"), (2, "m"), (2, "m")]


async def test_an_asciicast_of_a_period_has_only_that_period(services: FakeServices) -> None:
    _, *events = (
        await run_command(
            await add_recorded_command(services), "export", "1", "--cast", "--since", "1s", "--until", "1s"
        )
    ).items
    assert [event[1] for event in events] == ["o"]


async def test_an_asciicast_without_recording_is_an_error(services: FakeServices) -> None:
    result = await run_command(services, "export", "2", "--cast", "--output", "x.cast")
    assert (result.status, result.file) == (2, "")
    assert "no recording of pane 2" in result.err


async def test_json_output_has_an_asciicast_line_by_line(services: FakeServices) -> None:
    items = (await run_command(await add_recorded_command(services), "robot", "export", "1", "--cast")).items
    assert {(item["form"], item["pane"]) for item in items} == {("cast", 1)}


async def test_a_report_covers_one_pane_or_all_panes(services: FakeServices) -> None:
    text = (await run_command(await add_recorded_command(services), "export", "--report")).out
    assert "2 panes, 1 command (0 failed), 1 event, 0 gaps." in text
    assert "| make |" in text
    assert "1 pane, 0 commands" in (await run_command(services, "export", "2", "--report")).out


async def test_a_snapshot_is_written_to_a_new_file(services: FakeServices) -> None:
    result = await run_command(services, "export", "--snapshot", "--output", "copy.db")
    assert (result.file, result.out) == ("", "/copy.db: 8.2 KB\n")
    assert (await run_command(services, "export", "--snapshot", "--output", "/copy.db")).status == 75


@pytest.mark.parametrize(
    "argv", [("--cast",), ("--snapshot",), ("1", "--snapshot", "-o", "/x"), ("--report", "--cast", "1")]
)
async def test_incomplete_export_options_are_rejected(services: FakeServices, argv: tuple[str, ...]) -> None:
    assert (await run_command(services, "export", *argv)).status == 2


async def build_services() -> FakeServices:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    for word in ("one", "two", "three"):
        services.print_lines(PANE, word)
        services.print_bytes(PANE, word.encode())
        await services.clock.advance(10)
    return services


async def test_only_lines_in_the_period_are_exported():
    services, span = await build_services(), TimeRange(NOON + 5 * NS, NOON + 15 * NS)
    assert [piece.text async for piece in export_lines(services, PANE, span, "text")] == ["two"]
    assert [piece.data async for piece in export_raw(services, PANE, span, is_unredacted=True)] == [b"two"]


async def test_a_time_range_without_ends_exports_everything():
    services = await build_services()
    assert [piece.text async for piece in export_lines(services, PANE, TimeRange(), "text")] == ["one", "two", "three"]
    assert (
        b"".join([piece.data async for piece in export_raw(services, PANE, TimeRange(), is_unredacted=False)])
        == b"onetwothree"
    )
