"""The usage tracker: there, not there, or in trouble."""

import pytest

from termvisor.accounts import tracker
from termvisor.accounts.tracker import ask_tracker


@pytest.fixture
def program(tmp_path):
    def write(body: str) -> str:
        path = tmp_path / "caut"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o700)
        return str(path)

    return write


async def test_its_answer_is_given_whole(program):
    answer = await ask_tracker(program('echo "$@"; yes | head -c 9000'), "usage", "openai")
    assert answer.startswith(b"usage --service openai --format json\n")
    assert len(answer) > 9000


@pytest.mark.parametrize("name", ["", "/no/such/caut", "no-such-caut"])
async def test_its_absence_is_no_error(name):
    assert await ask_tracker(name, "refresh", "openai") is None


async def test_its_failure_is_told_without_its_words(program):
    with pytest.raises(ValueError, match="failed with status 3") as caught:
        await ask_tracker(program("echo hush >&2; exit 3"), "refresh", "openai")
    assert "hush" not in str(caught.value)


async def test_its_silence_ends(program, monkeypatch):
    monkeypatch.setattr(tracker, "PATIENCE", 0.05)
    with pytest.raises(ValueError, match="no answer within"):
        await ask_tracker(program("sleep 60"), "refresh", "openai")
