"""The detection service on a real store."""

from types import SimpleNamespace

from termvisor.daemon.services.detections import DetectionService
from termvisor.daemon.services.updates import LiveUpdates
from termvisor.model.detection.detection import DetectionFilter, DetectionHandling, DetectionMute
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.capture.capture_harness import CaptureStore


async def test_a_reported_variable_is_a_detection_that_can_be_handled_and_muted():
    with make_short_folder() as folder:
        memory = await CaptureStore(folder).open()
        try:
            parts = SimpleNamespace(
                store=memory.store, pipeline=memory.pipeline, clock=memory.clock, event_log=memory.event_log
            )
            pane, live = await memory.add_pane(), DetectionService(parts)
            with memory.event_log.events.subscribe() as news:
                event = await LiveUpdates(parts).report_user_variable(pane, "visor-deploy", '{"a": 1}')
                assert news.drain() == [event]
            (one,) = await live.list(DetectionFilter(is_unhandled=True))
            assert (one.event, one.captures["name"], one.can_start_workflow) == (event.id, "visor-deploy", False)
            assert await live.find_by_events([event.id]) == {event.id: one}
            done = DetectionHandling(at=1, by="person:1000")
            assert await live.mark_handled(event.id, done) == done
            mute = await live.mutes.add_mute(DetectionMute(what="user_var", at=1))
            assert await live.mutes.list() == [mute]
            muted = await LiveUpdates(parts).report_user_variable(pane, "visor-other", "1")
            assert (await live.find_by_events([muted.id]))[muted.id].handling.by == "mute:user_var"
            assert await live.mutes.end_mute(mute.id)
            assert "a.b" not in live.rules
        finally:
            await memory.close()
