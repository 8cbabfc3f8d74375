from termvisor.diagnostics.checks.recorder import RecorderCheck
from termvisor.testing.fake_services import FakeServices
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


async def test_a_running_recorder_is_fine(context: FakeCheckContext) -> None:
    assert (await RecorderCheck().run(context)).message == "running (pid 4243)"


async def test_a_lost_recorder_fails(context: FakeCheckContext, services: FakeServices) -> None:
    services.maintenance.is_recording = False
    finding = await RecorderCheck().run(context)
    assert (finding.status, bool(finding.hint)) == ("fail", True)


async def test_without_a_daemon_it_says_how_to_start_one(offline_context: FakeCheckContext) -> None:
    finding = await RecorderCheck().run(offline_context)
    assert (finding.status, finding.hint) == ("skip", "`visor up` starts it.")
