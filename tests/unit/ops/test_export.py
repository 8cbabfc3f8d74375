import base64
import logging

import msgspec
import pytest

from termvisor.model.ids import PaneId
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, shell

KEY = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
PANE = PaneId(1)


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.say(world.pane(shell()).id, *(f"line {number}" for number in range(2500)))
    world.say(world.pane(shell("%2")).id, "other pane")
    return world


async def test_text_is_every_line_in_order(world: MemoryWorld) -> None:
    answered = await ask(world, "export", "1")
    assert answered.out.splitlines() == [f"line {number}" for number in range(2500)]
    assert (await ask(world, "export", "1", "--text")).out == answered.out


async def test_without_a_pane_all_panes_are_exported(world: MemoryWorld) -> None:
    assert (await ask(world, "export")).out.splitlines()[-1] == "other pane"


async def test_jsonl_is_one_object_a_line_with_number_and_time(world: MemoryWorld) -> None:
    rows = (await ask(world, "export", "2", "--jsonl")).items
    assert rows == [{"form": "jsonl", "pane": 2, "at": "2026-01-01T12:00:00.000Z", "number": 1, "text": "other pane"}]


async def test_only_what_is_new_enough() -> None:
    assert (await ask(await lively(), "export", "1", "--since", "30s")).out == "tests passed\nerror: none\n"


async def test_raw_bytes_come_as_they_were_unless_they_hold_secrets(world: MemoryWorld) -> None:
    world.print_bytes(PANE, b"\x1b[31mred\x1b[0m\r\nsecret " + KEY.encode()[:9])
    world.print_bytes(PANE, KEY.encode()[9:] + b"\r\n")
    world.print_bytes(PANE, b"second epoch", epoch=2)
    out = (await ask(world, "export", "1", "--raw")).out
    assert out.startswith("\x1b[31mred\x1b[0m\r\nsecret ghp_")
    assert KEY not in out
    assert out.endswith("second epoch")


async def test_unredacted_bytes_are_exact_and_the_export_is_logged(
    world: MemoryWorld, caplog: pytest.LogCaptureFixture
) -> None:
    world.print_bytes(PANE, KEY.encode())
    with caplog.at_level(logging.WARNING):
        assert (await ask(world, "export", "1", "--raw", "--unredacted")).out == KEY
    assert "raw bytes of pane 1 were exported without redaction" in caplog.text


async def test_robots_get_raw_bytes_in_base64(world: MemoryWorld) -> None:
    world.print_bytes(PANE, b"\x00\xff\n")
    piece = (await ask(world, "robot", "export", "1", "--raw")).items[0]
    assert base64.b64decode(piece["data"]) == b"\x00\xff\n"


async def test_a_terminal_never_gets_raw_bytes(world: MemoryWorld) -> None:
    world.print_bytes(PANE, b"\x1b]52;c;ZXZpbA==\x07hello\r\n")
    assert (await ask(world, "export", "1", "--raw", is_terminal=True)).out == "hello\n"
    to_file = await ask(world, "export", "1", "--raw", "--output", "x.raw", is_terminal=True)
    assert (to_file.file, to_file.out) == ("/x.raw", "\x1b]52;c;ZXZpbA==\x07hello\r\n")


async def test_no_file_is_named_when_there_is_nothing_to_export(world: MemoryWorld) -> None:
    assert (await ask(world, "export", "9", "--output", "x")).file == ""
    assert (await ask(world, "export", "1", "--raw", "--output", "x")).file == "/x"


@pytest.mark.parametrize(
    "argv", [("1", "--raw", "--text"), ("--raw",), ("1", "--unredacted"), ("1", "--jsonl", "--unredacted"), ("9",)]
)
async def test_what_makes_no_sense_is_refused(world: MemoryWorld, argv: tuple[str, ...]) -> None:
    answered = await ask(world, "robot", "export", *argv)
    assert answered.status in (2, 4)
    assert not answered.items[0]["ok"]


async def test_a_secret_that_reached_the_store_stays_inside(world: MemoryWorld) -> None:
    world.say(PaneId(2), f"token {KEY}")
    assert KEY not in (await ask(world, "export", "2")).out
    assert KEY not in msgspec.json.encode((await ask(world, "robot", "export", "2")).items).decode()
