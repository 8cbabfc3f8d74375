"""What rules found in a real pane's text, through what operations see."""

from types import SimpleNamespace

from termvisor.daemon.services.detections import LiveDetections
from termvisor.daemon.services.user_variables import Reports
from termvisor.model.detection.detection import DetectionFilter, Handling, Mute
from termvisor.testing.tmux import short_folder
from tests.unit.capture.scene import Memory


async def test_a_report_is_found_handled_and_muted():
    with short_folder() as folder:
        memory = await Memory(folder).open()
        try:
            parts = SimpleNamespace(
                store=memory.store, pipeline=memory.pipeline, clock=memory.clock, chronicle=memory.chronicle
            )
            pane, live = await memory.pane(), LiveDetections(parts)
            with memory.chronicle.news.subscribe() as news:
                event = await Reports(parts).take(pane, "visor-deploy", '{"a": 1}')
                assert news.drain() == [event]
            (one,) = await live.list(DetectionFilter(is_unhandled=True))
            assert (one.event, one.captures["name"], one.may_start) == (event.id, "visor-deploy", False)
            assert (await live.one(event.id), await live.some([event.id])) == (one, {event.id: one})
            done = Handling(at=1, by="person:1000")
            assert await live.handle(event.id, done) == done
            mute = await live.mutes.add(Mute(what="user_var", at=1))
            assert await live.mutes.list() == [mute]
            muted = await Reports(parts).take(pane, "visor-other", "1")
            assert (await live.one(muted.id)).handling.by == "mute:user_var"
            assert await live.mutes.end(mute.id)
            assert "a.b" not in live.rules
        finally:
            await memory.close()
