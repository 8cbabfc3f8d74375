from pathlib import Path

import pytest

from termvisor.diagnostics.checks import BUILTIN
from termvisor.diagnostics.checks.check import Finding, Sight
from termvisor.ops.api.local_services import LocalWorld
from termvisor.ops.system import doctor
from termvisor.settings import Places
from termvisor.testing.asking import ask, lively


class Failing:
    name = "failing"
    doc = "It fails."

    async def look(self, sight: Sight) -> Finding:
        return Finding(name=self.name, status="fail", message="it is broken", hint="Mend it.")


class Raising:
    name = "raising"
    doc = "It breaks."

    async def look(self, sight: Sight) -> Finding:
        raise ZeroDivisionError("oops")


async def test_every_check_is_run_and_counted() -> None:
    data = (await ask(await lively(), "robot", "doctor")).envelope["data"]
    assert [item["name"] for item in data["items"]] == [check.name for check in BUILTIN]
    assert sum(data["summary"].values()) == len(BUILTIN)


async def test_a_failed_check_gives_exit_status_one_and_its_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BUILTIN", (Failing(), Raising()))
    answered = await ask(await lively(), "doctor")
    assert answered.status == 1
    assert "-> Mend it." in answered.out
    assert "the check itself broke: ZeroDivisionError: oops" in answered.out
    assert "2 fail" in answered.out


async def test_without_a_daemon_the_rest_is_still_checked(tmp_path: Path) -> None:
    places = Places(*(str(tmp_path / name) for name in ("config", "data", "run")))
    answered = await ask(LocalWorld(places), "robot", "doctor")
    statuses = {item["name"]: item["status"] for item in answered.envelope["data"]["items"]}
    assert (statuses["config"], statuses["tmux"]) == ("ok", "ok")
    assert (statuses["recorder"], statuses["clock"], statuses["history_limit"]) == ("skip", "skip", "skip")
    assert answered.status == 0


async def test_a_broken_config_is_found_and_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("colour = 'loud'\n")
    answered = await ask(LocalWorld(Places(*(str(tmp_path) for _ in range(3)))), "robot", "doctor")
    statuses = {item["name"]: item["status"] for item in answered.envelope["data"]["items"]}
    assert (statuses["config"], statuses["tmux"], answered.status) == ("fail", "ok", 1)


async def test_quiet_says_only_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "BUILTIN", (BUILTIN[0], Failing()))
    lines = (await ask(await lively(), "doctor", "-q")).out.splitlines()
    assert [line.split()[0] for line in lines] == ["fail", "->"]
