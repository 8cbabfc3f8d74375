"""`agents test` names the problem of a file, and `agents new` writes one that passes it."""

from pathlib import Path

from termvisor.testing.operation_calls import run_command
from tests.unit.agents.adapters.described_agent import DESCRIPTION
from tests.unit.ops.rules.test_rules_list import build_services


async def test_a_valid_file_passes(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(DESCRIPTION)
    result = await run_command(build_services(tmp_path), "agents", "test", str(path))
    assert (result.status, result.out.strip()) == (0, "mine ok, 0 examples classified as expected")


async def test_a_problem_is_shown_with_its_line_and_the_nearest_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(DESCRIPTION.replace("excluded", "exluded"))
    result = await run_command(build_services(tmp_path), "agents", "test", str(path))
    assert result.status == 78
    assert "mine.toml:9: exluded: is unknown; did you mean excluded?" in result.out


async def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    assert (await run_command(build_services(tmp_path), "agents", "test", str(tmp_path / "none.toml"))).status != 0
