from typing import get_args

import msgspec
import pytest

from termvisor.diagnostics.checks.check import CheckFinding, CheckStatus


@pytest.mark.parametrize("status", get_args(CheckStatus))
def test_a_finding_survives_encoding_between_processes(status: CheckStatus) -> None:
    finding = CheckFinding(name="disk", status=status, message="ü", hint="x")
    assert msgspec.json.decode(msgspec.json.encode(finding), type=CheckFinding) == finding


def test_no_other_status_is_known() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"name":"x","status":"perhaps","message":""}', type=CheckFinding)
