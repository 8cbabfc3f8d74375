"""What attends to agents, joined: who is there, what they say, what that means."""

import asyncio
from collections.abc import Hashable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from termvisor import agents
from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.screen_classifier import RulesOf
from termvisor.agents.sources.hook_spool import Mark, Spool
from termvisor.agents.sources.pane_processes import Processes
from termvisor.agents.sources.read_positions import Ribbon
from termvisor.agents.sources.source_watcher import Listening, Ribbons
from termvisor.agents.sources.unwatched_agents import Elsewhere
from termvisor.agents.state.thresholds import Measure
from termvisor.agents.tracking import Afar, Circle, Gaze, Hearing, Knowing, Printing, Recognition, Standing, Terms
from termvisor.agents.tracking.transcript_recorder import Scribe
from termvisor.capture.event_log import Chronicle
from termvisor.capture.screen_sampler import Look, Take
from termvisor.capture.screen_sampler import Place as PaneAt
from termvisor.capture.server_supervisor import Lookout
from termvisor.capture.server_watcher import Known, ServerWatch
from termvisor.clock import NS, Clock
from termvisor.daemon.agents.agent_servers import AgentServers
from termvisor.detection.packs.cache import load_kept
from termvisor.detection.packs.screen_rules import in_force
from termvisor.model.agent.agent_process import Place, Runtime
from termvisor.model.agent.read_position import Bookmark
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.pipeline import Pipeline, Sightings
from termvisor.settings import Places, Settings
from termvisor.store import Store
from termvisor.system.foreground_process import speaks_in
from termvisor.system.process_exit import Ends


class Attending(Struct):
    circle: Circle
    knowing: Knowing
    hearing: Hearing
    printing: Printing
    recognition: Recognition
    gaze: Gaze
    listening: Listening
    servers: AgentServers
    scribe: Scribe
    processes: Processes

    def take_over(self, settings: Settings) -> None:
        """From now on these settings hold."""
        self.knowing.terms = replace(terms(self.circle, settings), rules=self.knowing.terms.rules)
        self.scribe.is_asked = settings.agent_transcripts

    def read_screens_with(self, places: Places, settings: Settings) -> None:
        """From now on agents' screens are read by the rules that these settings put in force."""
        self.circle.use(screens(places, settings))


class Company:
    """Whoever must know of every agent that lives: those who read its files or servers, and who waits for its end."""

    def __init__(self, attending: Attending):
        self._attending, self._ends = attending, Ends(attending.recognition.ended)

    def follow(self, runtime: Runtime, process: Process) -> None:
        self._attending.hearing.follow(runtime, process)
        self._attending.printing.follow(runtime, process)
        self._attending.servers.follow(runtime, process)

    def leave(self, runtime: Runtime) -> None:
        self._attending.hearing.leave(runtime)
        self._attending.printing.leave(runtime)
        self._attending.servers.leave(runtime)
        self._ends.forget(runtime.pid, runtime.pid_started)

    def watch_end(self, pid: int, started: int) -> bool:
        return self._ends.watch(pid, started)

    def close(self) -> None:
        self._ends.close()


def terms(circle: Circle, settings: Settings) -> Terms:
    measure = Measure(
        sources=circle.sources,
        completed_for=int(settings.agent_completed_for * NS),
        contradicted_after=int(settings.agent_contradicted_after * NS),
        idle_after=int(settings.agent_idle_after * NS),
    )
    return Terms(measure=measure, resume=circle.resume)


def screens(places: Places, settings: Settings) -> RulesOf:
    """The rules for agents' screens that are in force here, a person's own among them."""
    return lambda agent: in_force(load_kept(places.config_dir, settings, places.cache_dir), agent)


async def attend(store: Store, chronicle: Chronicle, clock: Clock, places: Places, settings: Settings) -> Attending:
    """All of it, at rest; what an earlier daemon knew is known."""
    circle = Circle(lambda: agents.load(settings.agents_disabled, settings.agent_programs, screens(places, settings)))
    knowing = Knowing(store, chronicle.news, clock, terms(circle, settings))
    await knowing.open()
    hearing = Hearing(knowing, circle, clock)
    scribe = Scribe(knowing, circle, store.utterances)
    scribe.is_asked, hearing.scribe = settings.agent_transcripts, scribe.take
    scribe.tell = chronicle.news.publish
    spool = Spool(places.spool_dir, Mark(*knowing.marks.get("hook", (0, 0))), clock)
    listening = Listening(hearing.records, clock, spool)
    hearing.watching = listening
    listening.ribbons = ribbons(knowing)
    processes = Processes(circle.env_names)
    recognition = Recognition(knowing, circle, processes, clock)
    gaze = Gaze(knowing, hearing, Afar(knowing, circle, clock), clock)
    elsewhere = Elsewhere(circle.recognise, clock, lambda: circle.env_names)
    hearing.count = elsewhere.count
    servers = AgentServers(hearing.records, clock, lambda name: agents.host_of(circle.adapters.get(name)), elsewhere)
    printing = Printing(knowing, circle, clock)
    return Attending(circle, knowing, hearing, printing, recognition, gaze, listening, servers, scribe, processes)


def ribbons(knowing: Knowing) -> Ribbons:
    """How far agents' files are read is kept with what was read in them."""

    def keep(bookmark: Bookmark) -> bool:
        return knowing.take((), reached=bookmark)

    def ribbon(key: Hashable, place: str) -> Ribbon | None:
        runtime = RuntimeId(key) if isinstance(key, int) else None
        return Ribbon(runtime, place, knowing.bookmark(runtime, place), keep) if runtime is not None else None

    return ribbon


def connect(attending: Attending, pipeline: Pipeline, lookout: Lookout, place: PaneAt) -> None:
    """Join it to the watching side."""

    def moved_at(pane: PaneId) -> int | None:
        meter = pipeline.meters.get(pane)
        return meter.last_at if meter is not None else None

    def has_terminal(runtime: Runtime) -> bool | None:
        standing = standing_of(lookout, runtime.pane)
        return standing is not None and speaks_in(runtime.pid, runtime.pid_started, standing.pid)

    attending.hearing.moved_at = moved_at
    attending.printing.has_terminal = has_terminal
    attending.gaze.place, attending.gaze.secrets = place, pipeline.secrets_of
    attending.gaze.standing = lambda pane: standing_of(lookout, pane)
    attending.recognition.panes = lambda: panes(lookout)
    attending.processes.roots = lambda: {known.facts.pid for _, known in everyone(lookout)}
    pipeline.spoke = attending.hearing.marks
    pipeline.printed = attending.printing.lines
    attending.recognition.last_words = pipeline.read_now
    pipeline.spotter.stays = attending.knowing.stays
    attending.scribe.spot = pipeline.spotter.spot_words
    attending.knowing.terms = replace(attending.knowing.terms, rules=pipeline.spotter.rule)
    attending.knowing.arrived = pipeline.reconsider


def seeing(gaze: Gaze, sightings: Sightings) -> Take:
    """Every look is taken twice: for what it says of an agent, and for the rows in it."""

    async def take(looks: list[Look]) -> None:
        gaze.take(looks)
        await sightings.take(looks)

    return take


async def run(attending: Attending, store: Store, pipeline: Pipeline, chronicle: Chronicle) -> None:
    """Until it is cancelled. Whoever knows goes on a little longer: see `Knowing.end`."""
    recognition = attending.recognition
    company = recognition.follower = Company(attending)
    try:
        with pipeline.news.subscribe() as output, chronicle.news.subscribe() as events:
            async with asyncio.TaskGroup() as group:
                group.create_task(attending.listening.run())
                group.create_task(attending.servers.run())
                group.create_task(attending.gaze.run())
                group.create_task(recognition.hear(events))
                await recognition.bury([pane.id for pane in await store.panes.all()])
                group.create_task(recognition.run(output))
    finally:
        company.close()


def panes(lookout: Lookout) -> Iterator[Standing]:
    shown = terminals(lookout)
    for watch in lookout.watches.values():
        if watch.has_begun:
            yield from (_standing(watch, mux_id, shown) for mux_id in watch.known)


def everyone(lookout: Lookout) -> Iterator[tuple[ServerWatch, Known]]:
    for watch in lookout.watches.values():
        yield from ((watch, known) for known in watch.known.values())


def terminals(lookout: Lookout) -> frozenset[str]:
    """In which sessions of any server are shown; a pane's own may be one of them."""
    return frozenset(name for _, known in everyone(lookout) for name in known.facts.session_clients)


def standing_of(lookout: Lookout, pane: PaneId) -> Standing | None:
    found = lookout.place_of(pane)
    return None if found is None else _standing(*found, terminals(lookout))


def _standing(watch: ServerWatch, mux_id: MuxPaneId, shown: frozenset[str]) -> Standing:
    server, known = watch.server.instance, watch.known[mux_id]
    place, facts = Place(server.target, server.socket, mux_id), known.facts
    return Standing(
        pane=known.id,
        pid=facts.pid,
        command=facts.command,
        title=facts.title,
        place=place,
        shows_ours=facts.tty in shown,
    )
