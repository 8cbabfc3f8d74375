"""A recording is replayed in a worker process, whose errors are raised."""

from pathlib import Path

import pytest

from termvisor.errors import BadRequest
from termvisor.ops.agents._replay_worker import replay_recording

RECORDING = Path(__file__).parents[3] / "recordings" / "claude_code" / "completed.json"


async def test_the_result_of_the_worker_is_returned() -> None:
    result = await replay_recording(str(RECORDING), "", "")
    assert (result.view.state.value, result.runtime.agent) == ("completed", "claude_code")


async def test_errors_of_the_worker_are_raised() -> None:
    with pytest.raises(BadRequest, match="is not a recording of an agent") as caught:
        await replay_recording(__file__, "", "")
    assert "visor export --cast" in caught.value.hint
