import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection, DetectionFilter, DetectionHandling, DetectionMute
from termvisor.model.event import Event
from termvisor.model.ids import EventId, RuntimeId
from termvisor.store.maintenance.retention import HISTORY_TABLES, DeletionProgress, delete_old_rows

HOUR = 3600 * NS


def build_detection(pane, at=100, **others):
    known = {
        "type": "usage.reached",
        "rule": "codex.usage.reached",
        "source": "stream",
        "key": "usage.reached runtime:7",
        "severity": "error",
        "captures": {"resets_at": "3pm"},
        "evidence": {"line": 4},
    }
    return Detection(at=at * NS, pane=pane, **{**known, **others})


async def list_detections(store, **only):
    return await store.detections.list(DetectionFilter(**only))


async def test_a_detection_is_stored_with_its_event(store, new_pane):
    pane = await new_pane()
    (event,) = await store.detections.add([build_detection(pane)])
    assert (event.kind, event.pane, event.data["captures.resets_at"]) == ("usage.reached", pane, "3pm")
    one = await store.detections.find(event.id)
    assert (one.event, one.correlation, one.last_at) == (event.id, f"event:{event.id}", 100 * NS)
    assert replace(one, event=EventId(0), correlation="", last_at=None) == build_detection(pane)
    assert await store.detections.find_many([event.id, EventId(99)]) == {event.id: one}


async def test_repeated_detection_is_counted_and_may_add_captures(store, new_pane):
    pane = await new_pane()
    (event,) = await store.detections.add([build_detection(pane)])
    assert (
        await store.detections.add([build_detection(pane, 150, rule="signal.usage_limited", captures={"session": "s"})])
        == []
    )
    assert (
        await store.detections.add([build_detection(pane, 200)]) == []
    )  # sixty seconds after the last detection, not the first
    (one,) = await list_detections(store)
    assert (one.seen_again, one.last_at) == (2, 200 * NS)
    assert one.captures == {"resets_at": "3pm", "session": "s"}
    assert (one.event, len(await store.events.list())) == (event.id, 1)


async def test_other_pane_key_or_time_is_a_new_detection(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    again = [
        build_detection(pane),
        build_detection(other),
        build_detection(pane, key="usage.reached runtime:8"),
        build_detection(pane, 161),
    ]
    assert len(await store.detections.add(again)) == 4


async def test_late_detection_is_a_duplicate_of_one_just_after_it(store, new_pane):
    pane = await new_pane()
    await store.detections.add([build_detection(pane, 100)])
    assert await store.detections.add([build_detection(pane, 70)]) == []
    assert len(await store.detections.add([build_detection(pane, 20)])) == 1


async def test_redraw_is_a_duplicate_for_hours_and_new_text_is_not(store, new_pane):
    pane, runtime = await new_pane(), RuntimeId(7)
    await store.detections.add([build_detection(pane, 0, runtime=runtime, trace="above and text")])
    hours = 2 * 3600
    assert await store.detections.add([build_detection(pane, hours, runtime=runtime, trace="above and text")]) == []
    assert (
        len(await store.detections.add([build_detection(pane, 2 * hours, runtime=runtime, trace="other text above")]))
        == 1
    )
    assert (
        len(
            await store.detections.add([build_detection(pane, 3 * hours, runtime=RuntimeId(8), trace="above and text")])
        )
        == 1
    )


async def test_usage_limit_with_the_same_end_is_a_duplicate(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    first = {"agent": "codex", "runtime": RuntimeId(7), "evidence": {"resets_at": 9 * HOUR}}
    second = {"runtime": RuntimeId(8), "key": "usage.reached runtime:8", "evidence": {"resets_at": 9 * HOUR - 50 * NS}}
    second = first | second
    await store.detections.add([build_detection(pane, **first)])
    assert await store.detections.add([build_detection(pane, 4000, **second)]) == []
    (one,) = await list_detections(store)
    assert one.seen_again == 1
    past = first | {"evidence": {"resets_at": (24 + 9) * HOUR - 20 * NS}}
    assert await store.detections.add([build_detection(pane, 8000, **past)]) == []
    later = second | {"evidence": {"resets_at": 10 * HOUR}}
    assert (
        len(await store.detections.add([build_detection(pane, 12000, **later), build_detection(other, 4000, **second)]))
        == 2
    )


async def test_trace_of_a_text_after_the_agents_signal_is_stored(store, new_pane):
    pane = await new_pane()
    own = {"agent": "codex", "runtime": RuntimeId(7)}
    await store.detections.add([build_detection(pane, 100, source="signal", rule="signal.usage_limited", **own)])
    assert await store.detections.add([build_detection(pane, 101, trace="a1", **own)]) == []
    assert await store.detections.add([build_detection(pane, 4000, trace="a1", **own)]) == []
    assert len(await store.detections.add([build_detection(pane, 8000, trace="b2", **own)])) == 1


async def test_first_handling_is_kept(store, new_pane):
    (event,) = await store.detections.add([build_detection(await new_pane())])
    mine = DetectionHandling(at=1, by="workflow:handle_usage_limits", action="paused", run=3)
    assert await store.detections.handle(event.id, mine) == mine
    assert await store.detections.handle(event.id, DetectionHandling(at=2, by="person:1000")) == mine
    assert await store.detections.handle(event.id, mine) == mine
    assert await store.detections.handle(EventId(99), mine) is None
    assert [one.handling for one in await list_detections(store)] == [mine]
    assert await store.detections.list_unhandled() == []


@pytest.mark.parametrize(
    ("only", "rules"),
    [
        ({}, ["a.one", "b.two", "b.three"]),
        ({"type": "usage.*"}, ["a.one"]),
        ({"type": "test.failed"}, ["b.two", "b.three"]),
        ({"rule": "b.t*"}, ["b.two", "b.three"]),
        ({"agent": "codex"}, ["a.one"]),
        ({"severity": "warning"}, ["a.one", "b.two"]),
        ({"severity": "critical"}, []),
        ({"since": 200 * NS}, ["b.two", "b.three"]),
        ({"is_unhandled": True}, ["a.one", "b.three"]),
        ({"after": 1}, ["b.two", "b.three"]),
        ({"after": 0, "limit": 1}, ["a.one"]),
        ({"limit": 1}, ["b.three"]),
    ],
)
async def test_detections_are_filtered(store, new_pane, only, rules):
    pane = await new_pane()
    done = DetectionHandling(at=1, by="person:1000")
    await store.detections.add(
        [
            build_detection(pane, 100, rule="a.one", agent="codex", key="1"),
            build_detection(pane, 200, rule="b.two", type="test.failed", severity="warning", key="2", handling=done),
            build_detection(pane, 300, rule="b.three", type="test.failed", severity="info", key="3"),
        ]
    )
    assert [one.rule for one in await list_detections(store, **only)] == rules


async def test_muted_detection_is_stored_as_handled(store, new_pane):
    pane, other = await new_pane("%1"), await new_pane("%2")
    mute = await store.detections.add_mute(
        DetectionMute(what="usage.*", pane=pane, at=0, until=500 * NS, by="person:1000")
    )
    await store.detections.add(
        [
            build_detection(pane),
            build_detection(other),
            build_detection(pane, 600),
            build_detection(pane, rule="x.y", type="x.z", key=""),
        ]
    )
    assert [one.handling.by if one.handling else None for one in await list_detections(store)] == [
        "mute:usage.*",
        None,
        None,
        None,
    ]
    assert await store.detections.list_mutes(100 * NS) == [mute]
    assert await store.detections.list_mutes(500 * NS) == []
    assert (await store.detections.delete_mute(mute.id), await store.detections.delete_mute(mute.id)) == (True, False)


async def test_a_rule_may_be_muted_by_its_id(store, new_pane):
    await store.detections.add_mute(DetectionMute(what="codex.usage.reached", at=0))
    await store.detections.add([build_detection(await new_pane())])
    assert await store.detections.list_unhandled() == []


async def test_muting_the_same_again_updates_the_end_of_the_mute(store, new_pane):
    pane = await new_pane()
    one = await store.detections.add_mute(DetectionMute(what="usage.*", at=0, until=500 * NS))
    again = await store.detections.add_mute(DetectionMute(what="usage.*", at=100 * NS, until=900 * NS, by="person:1"))
    of_pane = await store.detections.add_mute(DetectionMute(what="usage.*", pane=pane, at=0))
    late = await store.detections.add_mute(DetectionMute(what="usage.*", at=1000 * NS))
    assert (again.id == one.id, of_pane.id == one.id, late.id == one.id) == (True, False, False)
    assert await store.detections.list_mutes(500 * NS) == [again, of_pane, late]


@pytest.mark.parametrize(
    ("glob", "count"), [("usage.[!rx]*", 0), ("usage.[!x]*", 1), ("[!c]odex.*", 0), ("c?dex.*", 1)]
)
async def test_globs_match_the_same_in_filters_and_mutes(store, new_pane, glob, count):
    await store.detections.add([build_detection(await new_pane())])
    only = [DetectionFilter(type=glob), DetectionFilter(rule=glob)]
    assert max([len(await store.detections.list(one)) for one in only]) == count
    await store.detections.add_mute(DetectionMute(what=glob, at=0))
    await store.detections.add([build_detection(await new_pane("%7"))])
    assert len(await store.detections.list_unhandled()) == 2 - count


async def test_detection_with_its_own_event_is_never_a_duplicate(store, new_pane):
    pane = await new_pane()
    event = Event(at=1, kind="user_var", pane=pane, data={"name": "visor-x"})
    one = Detection(at=1, type="user_var", rule="user_var.visor-x", pane=pane, source="user_var", key="same")
    stored = [await store.detections.add_with_event(one, event) for _ in range(2)]
    assert [event.data for event in stored] == [{"name": "visor-x"}] * 2
    assert [one.event for one in await list_detections(store)] == [event.id for event in stored]


async def test_lone_surrogates_are_replaced_in_detections(store, new_pane):
    pane = await new_pane()
    odd = build_detection(pane, captures={"what": "\ud800"}, context="\ud800", key="\ud800")
    assert len(await store.detections.add([odd])) == 1
    assert [one.captures for one in await list_detections(store)] == [{"what": "?"}]


async def test_old_detections_are_deleted_by_their_last_time(store, new_pane):
    pane = await new_pane()
    await store.detections.add(
        [build_detection(pane, 100), build_detection(pane, 300, key="other"), build_detection(pane, 130)]
    )
    aged = next(aged for aged in HISTORY_TABLES if aged.table == "detection")
    swept = await store._db.write(
        lambda connection: delete_old_rows(connection, DeletionProgress(aged, 120 * NS), lambda: False)
    )
    assert (swept.deleted, len(await list_detections(store))) == (0, 2)
    swept = await store._db.write(
        lambda connection: delete_old_rows(connection, DeletionProgress(aged, 200 * NS), lambda: False)
    )
    assert (swept.deleted, [one.key for one in await list_detections(store)]) == (1, ["other"])


async def test_unhandled_detections_after_an_event_are_listed_oldest_first(store, new_pane):
    pane = await new_pane()
    detections = [build_detection(pane, 100 * number, key=str(number)) for number in (1, 2, 3, 4)]
    events = await store.detections.add(detections)
    await store.detections.handle(events[2].id, DetectionHandling(at=1, by="person:1"))
    found = await store.detections.list_unhandled(after=events[0].id)
    assert [one.event for one in found] == [events[1].id, events[3].id]
    assert [one.event for one in await store.detections.list_unhandled(limit=1)] == [events[0].id]
