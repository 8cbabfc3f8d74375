"""The hash chain of an exported audit log."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.ops.api.catalog import find_operation
from termvisor.ops.api.envelope import encode_json_line
from termvisor.ops.api.services import LocalServices
from termvisor.ops.audit.audit_export import AuditLine
from termvisor.ops.audit.audit_verify import ChainProof, verify_lines
from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services
from tests.unit.model.action.test_audit import build_chain


async def test_audit_verify_reports_whether_the_audit_log_is_intact() -> None:
    services = await build_sample_services()
    newest = services.gate.entries[-1]
    report = f"The audit log is intact.\nEntries: {newest.id}; newest hash: {newest.hash}.\n"
    assert (await run_command(services, "audit", "verify")).out == report
    assert (await run_command(services, "audit", "verify", "--kept", newest.hash)).status == 0
    services.run_sql("DROP TRIGGER audit_is_not_changed")
    services.run_sql("UPDATE audit SET entry = replace(entry, 'deploy', 'coffee')")
    result = await run_command(services, "audit", "verify")
    assert (result.status, result.out) == (1, "The audit log is broken at entry 1: its content was changed.\n")


async def test_a_file_is_verified_without_a_daemon(tmp_path: Path) -> None:
    services, path = await build_sample_services(), tmp_path / "record.jsonl"
    path.write_text((await run_command(services, "audit", "export")).out)
    newest = services.gate.entries[-1].hash
    alone = LocalServices(Paths("/none/c", "/none/d", "/none/r"))
    result = await run_command(alone, "audit", "verify", "--file", str(path), "--kept", newest)
    assert (result.status, result.out) == (
        0,
        f"The file is intact.\nEntries: 1; newest hash: {newest}.\n",
    )
    path.write_text(path.read_text().replace("make deploy", "make coffee"))
    result = await run_command(alone, "audit", "verify", "--file", str(path))
    assert (result.status, result.out) == (1, "The file is broken at entry 1: its content was changed.\n")


async def test_a_missing_export_file_is_reported(tmp_path: Path) -> None:
    result = await run_command(
        await build_sample_services(), "robot", "audit", "verify", "--file", str(tmp_path / "none")
    )
    assert (result.status, result.envelope["error"]["code"]) == (69, "unavailable")


async def test_redacted_entries_are_reported_as_not_verified(tmp_path: Path) -> None:
    services, path = await build_sample_services(), tmp_path / "record.jsonl"
    services.gate.add_entry(replace(services.gate.entries[0], place="ghp_" + "a1B2" * 9))
    path.write_text((await run_command(services, "audit", "export")).out)
    result = await run_command(services, "audit", "verify", "--file", str(path))
    assert result.out.splitlines()[-1] == "1 of them are redacted: their content could not be verified."


def test_verifying_a_file_needs_no_daemon() -> None:
    op, words = find_operation(["audit", "verify", "--file=x"], is_robot=False)
    assert (op.is_local(words), op.is_local([])) == (True, False)


def export_audit_log(*texts: str) -> list[bytes]:
    chain = build_chain(list(texts))
    lines = [AuditLine(id=link.id, previous=link.previous, hash=link.hash, entry=link.entry) for link in chain]
    return [
        *map(encode_json_line, lines),
        encode_json_line(AuditLine(entries=len(chain), hash=chain[-1].hash if chain else "")),
    ]


def find_problem(lines: list[bytes], kept: str = "") -> tuple[int, str] | None:
    found = verify_lines(lines, kept).broken
    return None if found is None else (found.id, found.what)


def test_an_intact_file_reports_its_entries_and_hash() -> None:
    chain = build_chain(["a", "b", "c"])
    assert verify_lines(export_audit_log("a", "b", "c")) == ChainProof(entries=3, hash=chain[-1].hash)
    assert verify_lines(export_audit_log()) == ChainProof(entries=0, hash="")


@given(st.lists(st.text(max_size=12), min_size=1, max_size=5), st.data())
def test_removed_lines_and_changed_bytes_are_found(texts: list[str], data: st.DataObject) -> None:
    lines = export_audit_log(*texts)
    assert verify_lines(lines).broken is None
    at = data.draw(st.integers(0, len(lines) - 1))
    assert find_problem([*lines[:at], *lines[at + 1 :]]) is not None
    changed = export_audit_log(*texts[:at], "another text", *texts[at + 1 :])
    assert (
        texts[at:] == []
        or find_problem([*lines[:at], changed[at], *lines[at + 1 :]], build_chain(texts)[-1].hash) is not None
    )


def test_tampering_is_found_at_the_exact_entry() -> None:
    one, two, three, end = export_audit_log("first", "second", "third")
    cases = {
        "changed": ([one, two.replace(b"second", b"sec0nd"), three, end], (2, "its content was changed")),
        "taken out": ([one, three, end], (3, "it does not follow entry 1")),
        "cut": ([one, two, end], (3, "it was removed")),
        "no end": ([one, two, three], (4, "the end of the file is missing")),
        "added": ([one, two, three, end, three], (4, "not an audit entry")),
        "garbage": ([one, b"\xff\n", three, end], (2, "not an audit entry")),
    }
    assert {name: find_problem(lines) for name, (lines, _) in cases.items()} == {
        name: result for name, (_, result) in cases.items()
    }


def test_a_file_with_recomputed_hashes_lacks_the_expected_hash() -> None:
    kept = build_chain(["a", "b"])[-1].hash
    assert find_problem(export_audit_log("a", "b"), kept) is None
    assert find_problem(export_audit_log("a", "x"), kept) == (2, "no entry up to it has the expected hash")


def test_masked_entries_are_listed_and_verified_by_position() -> None:
    chain = build_chain(["a", "b"])
    lines = [
        encode_json_line(AuditLine(id=1, hash=chain[0].hash, entry="***", is_masked=True)),
        encode_json_line(AuditLine(id=2, previous=chain[0].hash, hash=chain[1].hash, entry="b")),
        encode_json_line(AuditLine(entries=2, hash=chain[1].hash)),
    ]
    assert verify_lines(lines) == ChainProof(entries=2, hash=chain[1].hash, masked=(1,))
