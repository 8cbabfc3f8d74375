import os
import socket

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.diagnostics.checks.daemon import (
    AlertsCheck,
    ClockSkewCheck,
    DescriptorsCheck,
    RecorderCheck,
    SocketPermissionsCheck,
)
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_a_running_recorder_is_ok(context: FakeCheckContext) -> None:
    assert (await RecorderCheck().run(context)).message == "running (pid 4243)"


async def test_a_lost_recorder_fails(context: FakeCheckContext, services: FakeServices) -> None:
    services.maintenance.is_recording = False
    finding = await RecorderCheck().run(context)
    assert (finding.status, bool(finding.hint)) == ("fail", True)


async def test_without_a_daemon_the_hint_says_how_to_start_one(offline_context: FakeCheckContext) -> None:
    finding = await RecorderCheck().run(offline_context)
    assert (finding.status, finding.hint) == ("skip", "`visor up` starts it.")


async def test_alerts_of_the_daemon_fail(context: FakeCheckContext, services: FakeServices) -> None:
    assert (await AlertsCheck().run(context)).status == "ok"
    services.maintenance.alerts = ("the recorder keeps exiting",)
    finding = await AlertsCheck().run(context)
    assert (finding.status, finding.message) == ("fail", "the recorder keeps exiting")


@pytest.mark.parametrize(("free", "status"), [(None, "skip"), (900, "ok"), (63, "warn"), (3, "fail")])
async def test_few_free_descriptors_are_reported(context, services, monkeypatch, free, status) -> None:
    health = await services.maintenance.get_health()
    shown = replace(health, daemon=replace(health.daemon, free_descriptors=free))

    async def get_health():
        return shown

    monkeypatch.setattr(services.maintenance, "get_health", get_health)
    finding = await DescriptorsCheck().run(context)
    assert (finding.status, "ulimit" in finding.hint) == (status, status in ("warn", "fail"))


@pytest.fixture
def listening(context: FakeCheckContext) -> FakeCheckContext:
    os.makedirs(context.paths.runtime_dir, mode=0o700)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(context.paths.daemon_socket)
    os.chmod(context.paths.daemon_socket, 0o600)
    return context


async def test_private_sockets_are_ok(listening: FakeCheckContext) -> None:
    assert (await SocketPermissionsCheck().run(listening)).status == "ok"


async def test_a_folder_that_others_may_enter_fails(listening: FakeCheckContext) -> None:
    os.chmod(listening.paths.runtime_dir, 0o755)
    finding = await SocketPermissionsCheck().run(listening)
    assert (finding.status, "0755, not 0700" in finding.message) == ("fail", True)


async def test_a_socket_that_others_may_use_fails(listening: FakeCheckContext) -> None:
    os.chmod(listening.paths.daemon_socket, 0o666)
    assert "0666, not 0600" in (await SocketPermissionsCheck().run(listening)).message


async def test_a_file_of_another_user_fails(listening: FakeCheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert "belongs to user" in (await SocketPermissionsCheck().run(listening)).message


@pytest.mark.parametrize(("ahead", "status"), [(-3600, "ok"), (0, "ok"), (5, "ok"), (6, "warn"), (3600, "warn")])
async def test_stored_times_must_not_lie_in_the_future(context: FakeCheckContext, ahead: int, status: str) -> None:
    context.newest_event_at = NOON + ahead * NS
    assert (await ClockSkewCheck().run(context)).status == status


async def test_without_stored_events_the_clock_check_is_ok(context: FakeCheckContext) -> None:
    assert (await ClockSkewCheck().run(context)).status == "skip"


async def test_a_clock_that_was_set_is_a_warning(context: FakeCheckContext, services: FakeServices) -> None:
    services.maintenance.clock_jump_s = 40 * 86_400.0
    finding = await ClockSkewCheck().run(context)
    assert (finding.status, finding.message) == ("warn", "the system clock was set by +3456000 s")
