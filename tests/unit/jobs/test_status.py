import pytest

from termvisor.jobs.status import JobObservation, find_wait_evidence
from termvisor.system.terminal_wait import TerminalWait

LINE = {"is_canonical": True, "is_echoing": True, "unread": 0, "is_asleep": True}
HIDDEN = LINE | {"is_echoing": False}


@pytest.mark.parametrize(
    ("wait", "observed", "evidence"),
    [
        ({"level": "reads"} | LINE, {}, "reads_terminal"),
        ({"level": "reads"} | LINE, {"quiet_s": 0.1}, None),
        ({"level": "reads"} | LINE | {"unread": 3}, {}, None),
        ({"level": "reads"} | LINE | {"unread": None}, {}, None),
        ({"level": "reads"} | HIDDEN, {}, "secret_prompt"),
        ({"level": "unknown"} | HIDDEN, {}, "secret_prompt"),
        ({"level": "unknown"} | HIDDEN | {"is_asleep": False}, {}, None),
        ({"level": "no"} | HIDDEN, {}, None),
        ({"level": "polls"} | LINE, {}, None),
        ({"level": "polls"} | LINE, {"has_prompt": True}, "detector"),
        ({"level": "no"} | LINE, {"has_prompt": True}, None),
        ({"level": "unknown"} | LINE, {}, None),
        ({"level": "unknown"} | LINE, {"has_prompt": True}, "detector"),
        ({"level": "no"} | LINE, {"quiet_after": 5.0, "idle_s": 6.0}, "quiet"),
        ({"level": "no"} | LINE, {"quiet_after": 5.0, "idle_s": 4.0}, None),
        ({"level": "no"} | LINE, {"idle_s": 600.0}, None),
    ],
)
def test_only_proof_makes_a_job_wait(wait, observed, evidence) -> None:
    seen = JobObservation(wait=TerminalWait(**wait), **({"quiet_s": 1.0} | observed))
    assert find_wait_evidence(seen) == evidence
