from pathlib import Path

import pytest

from termvisor.diagnostics.checks import BUILTIN_CHECKS
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.ops.api.services import LocalServices
from termvisor.ops.system import doctor
from termvisor.settings import Paths
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


class Failing:
    name = "failing"
    doc = "It fails."

    async def run(self, context: CheckContext) -> CheckFinding:
        return CheckFinding(name=self.name, status="fail", message="it is broken", hint="Mend it.")


class Raising:
    name = "raising"
    doc = "It breaks."

    async def run(self, context: CheckContext) -> CheckFinding:
        raise ZeroDivisionError("oops")


async def test_every_check_is_run_and_counted() -> None:
    data = (await run_command(await build_sample_services(), "robot", "doctor")).envelope["data"]
    assert [item["name"] for item in data["items"]] == [check.name for check in BUILTIN_CHECKS]
    assert sum(data["summary"].values()) == len(BUILTIN_CHECKS)


async def test_a_failed_check_gives_exit_status_one_and_its_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BUILTIN_CHECKS", (Failing(), Raising()))
    answered = await run_command(await build_sample_services(), "doctor")
    assert answered.status == 1
    assert "-> Mend it." in answered.out
    assert "the check crashed: ZeroDivisionError: oops" in answered.out
    assert "2 fail" in answered.out


async def test_without_a_daemon_the_rest_is_still_checked(tmp_path: Path) -> None:
    places = Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))
    answered = await run_command(LocalServices(places), "robot", "doctor")
    statuses = {item["name"]: item["status"] for item in answered.envelope["data"]["items"]}
    assert (statuses["config"], statuses["tmux"]) == ("ok", "ok")
    assert (statuses["recorder"], statuses["clock"], statuses["history_limit"]) == ("skip", "skip", "skip")
    assert answered.status == 0


async def test_an_invalid_config_is_found_and_other_checks_still_run(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("colour = 'loud'\n")
    answered = await run_command(LocalServices(Paths(*(str(tmp_path) for _ in range(3)))), "robot", "doctor")
    statuses = {item["name"]: item["status"] for item in answered.envelope["data"]["items"]}
    assert (statuses["config"], statuses["tmux"], answered.status) == ("fail", "ok", 1)


async def test_quiet_shows_only_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BUILTIN_CHECKS", (BUILTIN_CHECKS[0], Failing()))
    lines = (await run_command(await build_sample_services(), "doctor", "-q")).out.splitlines()
    assert [line.split()[0] for line in lines] == ["fail", "->"]
