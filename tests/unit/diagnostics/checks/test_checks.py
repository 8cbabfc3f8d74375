from pathlib import Path
from typing import get_args

import msgspec
import pytest

from termvisor.diagnostics import checks
from termvisor.diagnostics.checks import BUILTIN_CHECKS
from termvisor.diagnostics.checks.check import Check, CheckContext, CheckFinding, CheckStatus


def test_names_are_unique_and_every_file_is_listed() -> None:
    files = {path.stem for path in Path(checks.__file__).parent.glob("*.py")} - {"__init__", "check"}
    assert {type(check).__module__.rpartition(".")[2] for check in BUILTIN_CHECKS} == files
    assert len({check.name for check in BUILTIN_CHECKS}) == len(BUILTIN_CHECKS)


@pytest.mark.parametrize("check", BUILTIN_CHECKS, ids=lambda check: check.name)
async def test_every_check_works_without_a_daemon_and_before_the_first_start(
    check: Check, offline_context: CheckContext
) -> None:
    finding = await check.run(offline_context)
    assert (finding.name, finding.status in ("ok", "skip")) == (check.name, True)
    assert check.doc.endswith(".")


def test_a_finding_without_a_hint_has_an_empty_one() -> None:
    assert CheckFinding(name="x", status="ok", message="fine").hint == ""


@pytest.mark.parametrize("status", get_args(CheckStatus))
def test_a_finding_survives_encoding_between_processes(status: CheckStatus) -> None:
    finding = CheckFinding(name="disk", status=status, message="ü", hint="x")
    assert msgspec.json.decode(msgspec.json.encode(finding), type=CheckFinding) == finding


def test_an_unknown_status_is_rejected() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"name":"x","status":"perhaps","message":""}', type=CheckFinding)
