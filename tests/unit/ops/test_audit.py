from msgspec.structs import replace

from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld

TOKEN = "ghp_" + "a1B2" * 9


async def test_the_record_is_filtered_and_read_on_from_a_cursor() -> None:
    world = await lively()
    data = (await ask(world, "robot", "audit", "--pane", "1", "--kind", "send_text")).envelope["data"]
    assert (data["cursor"], data["items"][0]["what"]) == (1, "type 'make deploy' and press Enter")
    assert (await ask(world, "robot", "audit", "--after", "1")).envelope["data"]["items"] == []
    assert (await ask(world, "robot", "audit", "--since", "1s")).envelope["data"]["items"] == []
    assert (await ask(MemoryWorld(), "audit")).out == "Nothing is on record.\n"


async def test_a_misspelled_kind_is_not_an_empty_record() -> None:
    answered = await ask(await lively(), "audit", "--kind", "send_txt")
    assert answered.status == 2
    assert "send_text" in answered.err


async def test_secrets_and_escapes_do_not_come_out_of_an_old_entry() -> None:
    world = await lively()
    evil = replace(world.door.ledger.entries[0], action={"text": f"x {TOKEN}"}, why="\x1b[2J\nforged", place=TOKEN)
    world.door.ledger.entries[0] = evil
    for words in (("audit",), ("robot", "audit")):
        out = (await ask(world, *words)).out
        assert TOKEN not in out
        assert "\x1b" not in out
