from pathlib import Path

import msgspec
import pytest

from termvisor.diagnostics.checks.tmux import HistoryLimitCheck, ServersCheck, ShellMarksCheck, TmuxVersionCheck
from termvisor.model.health import HealthStatus, ServerHealth
from termvisor.model.terminal.pane import PaneActivity
from termvisor.settings import Settings
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from tests.unit.diagnostics.checks.conftest import FakeCheckContext
from tests.unit.terminal_process import TerminalProcess


async def test_the_real_tmux_is_found(context: FakeCheckContext) -> None:
    finding = await TmuxVersionCheck().run(context)
    assert (finding.status, finding.message.startswith("tmux ")) == ("ok", True)


async def test_a_missing_tmux_fails_with_the_command_that_installs_it(context: FakeCheckContext) -> None:
    context.settings = Settings(tmux_program="/nowhere/tmux")
    finding = await TmuxVersionCheck().run(context)
    assert (finding.status, "apt-get install tmux" in finding.hint) == ("fail", True)


async def test_a_program_that_is_not_tmux_fails(context: FakeCheckContext) -> None:
    context.settings = Settings(tmux_program="false")
    assert (await TmuxVersionCheck().run(context)).message == "false -V failed with exit status 1"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("tmux 3.3a", "ok"),
        ("tmux 3.2", "ok"),
        ("tmux next-3.7", "ok"),
        ("tmux 10.0", "ok"),
        ("tmux 3.1c", "fail"),
        ("tmux 2.9", "fail"),
        ("tmux master", "warn"),
    ],
)
def test_tmux_versions_are_checked(answer: str, status: str) -> None:
    assert TmuxVersionCheck().judge_version(answer).status == status


class WithSilentServer(FakeCheckContext):
    async def get_health(self) -> HealthStatus | None:
        health = await super().get_health()
        assert health is not None
        return msgspec.structs.replace(
            health, servers=(msgspec.structs.replace(health.servers[0], mux_ok=False), *health.servers)
        )


async def test_all_servers_respond(context: FakeCheckContext) -> None:
    finding = await ServersCheck().run(context)
    assert (finding.status, finding.message) == ("ok", "1 watched, all respond")


async def test_an_unresponsive_server_is_named(context: FakeCheckContext) -> None:
    finding = await ServersCheck().run(WithSilentServer(context.paths, context.services))
    assert (finding.status, finding.message) == ("warn", "no response from /run/tmux/default")


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"client": "plain", "detail": "tmux next-9 is unknown"}, "warn", "/run/tmux/default: tmux next-9 is unknown"),
        ({"attached_sessions": 2}, "ok", "attached to 2 sessions"),
    ],
)
async def test_the_way_to_a_server_is_reported(
    context: FakeCheckContext, change: dict[str, object], status: str, words: str
) -> None:
    class WithChangedServer(FakeCheckContext):
        async def get_health(self) -> HealthStatus | None:
            health = await super().get_health()
            changed = msgspec.structs.replace(health.servers[0], **change) if health else None
            return msgspec.structs.replace(health, servers=(changed,)) if health else None

    finding = await ServersCheck().run(WithChangedServer(context.paths, context.services))
    assert (finding.status, words in finding.message) == (status, True)


async def test_a_configured_server_that_does_not_exist_is_named(context: FakeCheckContext) -> None:
    class WithAbsentServer(FakeCheckContext):
        async def get_health(self) -> HealthStatus | None:
            health = await super().get_health()
            absent = ServerHealth(target="local", socket="/run/none", mux_ok=False, client="none", panes=0)
            return msgspec.structs.replace(health, servers=(absent,)) if health else None

    finding = await ServersCheck().run(WithAbsentServer(context.paths, context.services))
    assert (finding.status, finding.message) == ("warn", "no response from /run/none")


async def test_long_histories_are_ok(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts(history_limit=50_000))
    assert (await HistoryLimitCheck().run(context)).status == "ok"


async def test_short_histories_are_a_warning_with_the_line_that_fixes_it(
    context: FakeCheckContext, services: FakeServices
) -> None:
    services.add_pane(build_shell_facts(history_limit=50_000))
    services.add_pane(build_shell_facts("%2", history_limit=2000))
    services.add_pane(build_shell_facts("%3", history_limit=49_999))
    finding = await HistoryLimitCheck().run(context)
    assert (finding.status, "2 of 3 panes" in finding.message, "2,000" in finding.message) == ("warn", True, True)
    assert "set -g history-limit 50000" in finding.hint


async def test_a_pane_without_a_known_limit_is_not_counted(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts(history_limit=0))
    assert (await HistoryLimitCheck().run(context)).status == "skip"


async def test_one_shell_with_marks_is_enough(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts("%1"))
    services.change_pane(
        services.add_pane(build_shell_facts("%2")).id, activity=PaneActivity(kind="prompt", is_proven=True)
    )
    finding = await ShellMarksCheck().run(context)
    assert (finding.status, finding.message) == ("ok", "1 of 2 panes send marks, 1 of them proven")


async def test_a_shell_with_an_older_integration_is_a_warning(
    context: FakeCheckContext, services: FakeServices, tmp_path: Path
) -> None:
    terminal = TerminalProcess(tmp_path)
    facts = msgspec.structs.replace(build_shell_facts("%1"), pid=terminal.pid)
    services.change_pane(services.add_pane(facts).id, activity=PaneActivity(kind="prompt", is_proven=True))
    finding = await ShellMarksCheck().run(context)
    terminal.kill()
    assert (finding.status, "1 record no state" in finding.message) == ("warn", True)
    assert "visor setup shell" in finding.hint


async def test_shells_without_marks_are_a_warning(context: FakeCheckContext, services: FakeServices) -> None:
    services.add_pane(build_shell_facts("%1"))
    finding = await ShellMarksCheck().run(context)
    assert (finding.status, "visor setup shell" in finding.hint) == ("warn", True)


async def test_without_panes_no_shell_is_checked(context: FakeCheckContext) -> None:
    assert (await ShellMarksCheck().run(context)).status == "skip"
