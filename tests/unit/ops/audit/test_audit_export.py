from msgspec.structs import replace

from termvisor.ops.audit._chain_check import proven
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld

TOKEN = "ghp_" + "a1B2" * 9


async def test_what_is_exported_can_be_proven_and_goes_into_a_file_of_the_callers() -> None:
    world = await lively()
    for _ in range(700):
        world.door.ledger.record(world.door.ledger.entries[0])
    answered = await ask(world, "audit", "export", "--output", "/tmp/record.jsonl")
    assert (answered.status, answered.file) == (0, "/tmp/record.jsonl")
    proof = proven(answered.out.encode().splitlines(keepends=True))
    assert (proof.broken, proof.entries, proof.hash) == (None, 701, world.door.ledger.entries[-1].hash)
    assert (await ask(world, "robot", "audit", "export")).out == answered.out


async def test_an_empty_record_is_a_file_too() -> None:
    answered = await ask(MemoryWorld(), "audit", "export")
    assert proven(answered.out.encode().splitlines(keepends=True)).entries == 0


async def test_a_secret_that_an_old_entry_holds_is_masked_and_marked() -> None:
    world = await lively()
    world.door.ledger.record(replace(world.door.ledger.entries[0], place=f"x {TOKEN}"))
    world.door.ledger.record(world.door.ledger.entries[0])
    answered = await ask(world, "audit", "export")
    assert TOKEN not in answered.out
    proof = proven(answered.out.encode().splitlines(keepends=True))
    assert (proof.broken, proof.entries, proof.masked) == (None, 3, (2,))


async def test_a_terminal_is_not_told_what_an_entry_wants_it_to_do() -> None:
    world = await lively()
    world.door.ledger.record(replace(world.door.ledger.entries[0], why="\x1b]0;\x07\x9b2Jforged"))
    out = (await ask(world, "audit", "export", is_terminal=True)).out
    assert not {"\x1b", "\x9b", "\x07"} & set(out)
    assert proven(out.encode().splitlines(keepends=True)).broken is None
