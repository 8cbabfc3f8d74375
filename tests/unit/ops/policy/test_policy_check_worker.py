from pathlib import Path

import pytest

from termvisor.errors import ConfigError
from termvisor.ops.policy._policy_check_worker import check_policy_file


async def test_errors_of_the_worker_are_raised(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("unproven_prompt = true\n")
    await check_policy_file(str(file))
    file.write_text("unproven_promt = true\n")
    with pytest.raises(ConfigError, match="unproven_promt") as caught:
        await check_policy_file(str(file))
    assert caught.value.hint == "Did you mean unproven_prompt?"
