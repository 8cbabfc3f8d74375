from pathlib import Path

from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command


async def test_a_valid_file_is_ok_and_an_invalid_one_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("unproven_prompt = true\n")
    assert (await run_command(FakeServices(), "policy", "test", str(file))).out == f"{file} ok\n"
    file.write_text('\n[shel]\nmode = "ask"\n')
    result = await run_command(FakeServices(), "policy", "test", str(file))
    assert result.status == 78
    assert "line 2" in result.err
    assert "Did you mean shell?" in result.err


async def test_without_a_file_the_defaults_apply() -> None:
    result = await run_command(FakeServices(), "policy", "test")
    assert (result.status, "the defaults apply" in result.out) == (0, True)
