"""The usage tracker: installed, missing, or failing."""

import pytest

from termvisor.accounts.usage_tracker import query_tracker
from termvisor.actions.run_program import run_program
from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome


@pytest.fixture
def program(tmp_path):
    def write(body: str) -> str:
        path = tmp_path / "caut"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o700)
        return str(path)

    return write


async def test_its_answer_is_given_whole(program):
    answer = await query_tracker(program('echo "$@"; yes | head -c 9000'), "usage", "openai", run_program)
    assert answer.startswith(b"usage --service openai --format json\n")
    assert len(answer) > 9000


@pytest.mark.parametrize("name", ["", "/no/such/caut", "no-such-caut"])
async def test_its_absence_is_no_error(name):
    assert await query_tracker(name, "refresh", "openai", run_program) is None


async def test_a_failure_is_reported_without_its_output(program):
    with pytest.raises(ValueError, match="failed with status 3") as caught:
        await query_tracker(program("echo hush >&2; exit 3"), "refresh", "openai", run_program)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(status="failed", why="timed_out", text="caut gave no answer within 20 s"), "no answer within"),
        (Outcome(status="suppressed", why="policy_asks", text="rule careful: ask"), "was not run: rule careful"),
    ],
)
async def test_a_silent_server_is_reported(program, outcome, words):
    async def silent(_action: RunProgram) -> Outcome:
        return outcome

    with pytest.raises(ValueError, match=words):
        await query_tracker(program("exit 0"), "refresh", "openai", silent)


async def test_a_refusal_by_policy_is_reported(program):
    async def denied(_action: RunProgram) -> Outcome:
        raise Refused("the policy says no: not here")

    with pytest.raises(ValueError, match="was not run: the policy says no"):
        await query_tracker(program("exit 0"), "refresh", "openai", denied)
