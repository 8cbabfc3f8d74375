"""A recording is read in another process; what that complains of is ours."""

from pathlib import Path

import pytest

from termvisor.errors import BadRequest
from termvisor.ops.agents._replay_worker import replay_recording

RECORDING = Path(__file__).parents[3] / "recordings" / "claude_code" / "completed.json"


async def test_what_the_other_process_found_comes_back_whole() -> None:
    told = await replay_recording(str(RECORDING), "", "")
    assert (told.view.state.value, told.runtime.agent) == ("completed", "claude_code")


async def test_its_complaint_is_ours() -> None:
    with pytest.raises(BadRequest, match="is no recording of an agent") as caught:
        await replay_recording(__file__, "", "")
    assert "visor export --cast" in caught.value.hint
