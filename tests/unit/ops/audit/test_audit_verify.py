from pathlib import Path

from msgspec.structs import replace

from termvisor.model.action.hash_chain import ChainBreak
from termvisor.ops.api.catalog import find_operation
from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_it_is_spelled_as_two_words_and_says_whether_the_audit_log_is_intact() -> None:
    services = await build_sample_services()
    assert (await run_command(services, "audit", "verify")).out == "The audit log is intact.\n"
    services.gate.audit.broken_chain = ChainBreak(7, "its content was changed")
    result = await run_command(services, "audit", "verify")
    assert (result.status, result.out) == (1, "The audit log is broken at entry 7: its content was changed.\n")


async def test_a_file_is_verified_without_a_daemon(tmp_path: Path) -> None:
    services, path = await build_sample_services(), tmp_path / "record.jsonl"
    path.write_text((await run_command(services, "audit", "export")).out)
    newest = services.gate.audit.entries[-1].hash
    alone = LocalServices(Paths("/none/c", "/none/d", "/none/r"))
    result = await run_command(alone, "audit", "verify", "--file", str(path), "--kept", newest)
    assert (result.status, result.out) == (
        0,
        f"The file is intact.\nEntries: 1; newest hash: {newest}.\n",
    )
    path.write_text(path.read_text().replace("make deploy", "make coffee"))
    result = await run_command(alone, "audit", "verify", "--file", str(path))
    assert (result.status, result.out) == (1, "The file is broken at entry 1: its content was changed.\n")


async def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    result = await run_command(
        await build_sample_services(), "robot", "audit", "verify", "--file", str(tmp_path / "none")
    )
    assert (result.status, result.envelope["error"]["code"]) == (69, "unavailable")


async def test_redacted_entries_are_reported_as_not_verified(tmp_path: Path) -> None:
    services, path = await build_sample_services(), tmp_path / "record.jsonl"
    services.gate.audit.add_entry(replace(services.gate.audit.entries[0], place="ghp_" + "a1B2" * 9))
    path.write_text((await run_command(services, "audit", "export")).out)
    result = await run_command(services, "audit", "verify", "--file", str(path))
    assert result.out.splitlines()[-1] == "1 of them are redacted: their content could not be verified."


def test_only_a_file_needs_no_daemon() -> None:
    op, words = find_operation(["audit", "verify", "--file=x"], is_robot=False)
    assert (op.is_local(words), op.is_local([])) == (True, False)
