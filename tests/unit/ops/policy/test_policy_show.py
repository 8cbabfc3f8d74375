from pathlib import Path

from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


def _write_policy(folder: Path, text: str) -> Paths:
    (folder / "policy.toml").write_text(text)
    return Paths(str(folder), str(folder), str(folder))


async def test_the_active_policy_is_shown_or_only_changed_values(tmp_path: Path) -> None:
    services = await build_sample_services()
    assert 'approval.default = "ask"' in (await run_command(services, "policy", "show")).out
    services = await build_sample_services(_write_policy(tmp_path, '[approval]\ndefault = "deny"\n'))
    shown = await run_command(services, "policy", "show", "--changed", "-q")
    assert shown.out == 'approval.default = "deny"\napproval.expiry = 600\n'


async def test_an_invalid_policy_file_is_reported_and_nothing_is_allowed(tmp_path: Path) -> None:
    services = await build_sample_services(_write_policy(tmp_path, '[approval]\n\ndefault = "never"\n'))
    out = (await run_command(services, "policy", "show")).out
    assert "line 3" in out
    assert "nothing is allowed" in out
