from msgspec.structs import replace

from termvisor.ops.audit.audit_verify import verify_lines
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

TOKEN = "ghp_" + "a1B2" * 9


async def test_an_export_can_be_verified_and_is_written_to_the_clients_file() -> None:
    services = await build_sample_services()
    await services.store.audit.add(services.gate.entries * 700)
    result = await run_command(services, "audit", "export", "--output", "/tmp/record.jsonl")
    assert (result.status, result.file) == (0, "/tmp/record.jsonl")
    proof = verify_lines(result.out.encode().splitlines(keepends=True))
    assert (proof.broken, proof.entries, proof.hash) == (None, 701, services.gate.entries[-1].hash)
    assert (await run_command(services, "robot", "audit", "export")).out == result.out


async def test_an_empty_audit_log_is_a_file_too() -> None:
    result = await run_command(FakeServices(), "audit", "export")
    assert verify_lines(result.out.encode().splitlines(keepends=True)).entries == 0


async def test_a_secret_in_an_old_entry_is_redacted_and_marked() -> None:
    services = await build_sample_services()
    services.gate.add_entry(replace(services.gate.entries[0], place=f"x {TOKEN}"))
    services.gate.add_entry(services.gate.entries[0])
    result = await run_command(services, "audit", "export")
    assert TOKEN not in result.out
    proof = verify_lines(result.out.encode().splitlines(keepends=True))
    assert (proof.broken, proof.entries, proof.masked) == (None, 3, (2,))


async def test_escape_sequences_of_an_entry_do_not_reach_the_terminal() -> None:
    services = await build_sample_services()
    services.gate.add_entry(replace(services.gate.entries[0], why="\x1b]0;\x07\x9b2Jforged"))
    out = (await run_command(services, "audit", "export", is_terminal=True)).out
    assert not {"\x1b", "\x9b", "\x07"} & set(out)
    assert verify_lines(out.encode().splitlines(keepends=True)).broken is None
