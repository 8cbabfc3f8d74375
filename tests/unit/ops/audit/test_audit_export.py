from msgspec.structs import replace

from termvisor.ops.audit._chain_check import verify_lines
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command

TOKEN = "ghp_" + "a1B2" * 9


async def test_what_is_exported_can_be_proven_and_goes_into_a_file_of_the_callers() -> None:
    world = await build_sample_services()
    for _ in range(700):
        world.gate.audit.add_entry(world.gate.audit.entries[0])
    answered = await run_command(world, "audit", "export", "--output", "/tmp/record.jsonl")
    assert (answered.status, answered.file) == (0, "/tmp/record.jsonl")
    proof = verify_lines(answered.out.encode().splitlines(keepends=True))
    assert (proof.broken, proof.entries, proof.hash) == (None, 701, world.gate.audit.entries[-1].hash)
    assert (await run_command(world, "robot", "audit", "export")).out == answered.out


async def test_an_empty_record_is_a_file_too() -> None:
    answered = await run_command(FakeServices(), "audit", "export")
    assert verify_lines(answered.out.encode().splitlines(keepends=True)).entries == 0


async def test_a_secret_that_an_old_entry_holds_is_masked_and_marked() -> None:
    world = await build_sample_services()
    world.gate.audit.add_entry(replace(world.gate.audit.entries[0], place=f"x {TOKEN}"))
    world.gate.audit.add_entry(world.gate.audit.entries[0])
    answered = await run_command(world, "audit", "export")
    assert TOKEN not in answered.out
    proof = verify_lines(answered.out.encode().splitlines(keepends=True))
    assert (proof.broken, proof.entries, proof.masked) == (None, 3, (2,))


async def test_a_terminal_is_not_told_what_an_entry_wants_it_to_do() -> None:
    world = await build_sample_services()
    world.gate.audit.add_entry(replace(world.gate.audit.entries[0], why="\x1b]0;\x07\x9b2Jforged"))
    out = (await run_command(world, "audit", "export", is_terminal=True)).out
    assert not {"\x1b", "\x9b", "\x07"} & set(out)
    assert verify_lines(out.encode().splitlines(keepends=True)).broken is None
