from pathlib import Path

from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command


async def test_a_right_file_is_right_and_a_wrong_one_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("unproven_prompt = true\n")
    assert (await run_command(FakeServices(), "policy", "test", str(file))).out == f"{file} is right.\n"
    file.write_text('\n[shel]\nmode = "ask"\n')
    answered = await run_command(FakeServices(), "policy", "test", str(file))
    assert answered.status == 78
    assert "line 2" in answered.err
    assert "Did you mean shell?" in answered.err


async def test_without_a_file_the_defaults_hold() -> None:
    answered = await run_command(FakeServices(), "policy", "test")
    assert (answered.status, "the defaults hold" in answered.out) == (0, True)
