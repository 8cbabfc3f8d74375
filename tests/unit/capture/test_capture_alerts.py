"""Name the panes that are not captured in alerts."""

from types import SimpleNamespace

import pytest

from termvisor.capture.capture_alerts import CaptureAlerts
from termvisor.capture.pane_capture_state import PaneCaptureState
from termvisor.capture.raw_log import DiskSpaceProbe
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.target import LOCAL, ServerKey

SERVER = ServerKey(LOCAL.name, "/s")


@pytest.mark.parametrize(
    ("name", "value", "alerts"),
    [
        ("", None, {"uncaptured:/s": "pane 1 is no longer captured (link_down); `visor gaps` shows since when"}),
        ("is_dead", True, {}),
        ("lost_at", 95.0, {}),
        ("gap_cause", None, {}),
        (
            "gap_cause",
            "descriptors_exhausted",
            {"descriptors:/s": "the recorder has no free file descriptor for pane 1"},
        ),
        ("gap_cause", "disk_full", {"uncaptured:/s": "pane 1 is no longer captured (disk_full)"}),
        ("backoff", SimpleNamespace(is_held_down=True), {"panes:/s": "capturing pane 1 keeps failing"}),
    ],
)
async def test_each_lost_pane_is_named_in_one_alert(capture_store, folder, name, value, alerts):
    state = PaneCaptureState(PaneId(1), MuxPaneId("%1"), gap_cause="link_down", lost_at=94.9)
    if name:
        setattr(state, name, value)
    raised = CaptureAlerts(SERVER, capture_store.event_log, DiskSpaceProbe(f"{folder}/raw"))
    await raised.update([state], 100.0)
    found = capture_store.event_log.alerts
    assert {key: found[key].startswith(text) for key, text in alerts.items()} == dict.fromkeys(found, True)
    await raised.clear()
    assert found == {}


async def test_a_full_disk_explains_the_panes_that_it_stopped(capture_store, folder):
    states = [
        PaneCaptureState(PaneId(number), MuxPaneId(f"%{number}"), gap_cause=cause)
        for number, cause in enumerate(["disk_full", *["link_down"] * 10], 1)
    ]
    probe = DiskSpaceProbe(f"{folder}/raw")
    probe.report_write_failure(90.0)
    raised = CaptureAlerts(SERVER, capture_store.event_log, probe)
    await raised.update(states, 100.0)
    text = "panes 2, 3, 4, 5, 6, 7, 8, 9 and 2 more are no longer captured (link_down); `visor gaps` shows since when"
    assert capture_store.event_log.alerts == {"room": probe.problem, "uncaptured:/s": text}
    probe.write_error = ""
    await raised.update(states[:1], 100.0)
    assert list(capture_store.event_log.alerts) == ["uncaptured:/s"]
