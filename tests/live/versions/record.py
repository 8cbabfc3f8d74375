"""Record released versions of the agents: `python -m tests.live.versions.record codex 0.142.5 [--hooks] [--width 80]`.

Each run installs the version, drives it through the scenario and writes tests/recordings/versions.
"""

import argparse
import re
import sys
from pathlib import Path

import msgspec
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Adapter
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.agent_programs import AgentFolders
from tests.live.agents.model.server import open_model_server
from tests.live.versions.described_packages import DESCRIBED_PACKAGES
from tests.live.versions.packages import FOLDER, PACKAGES
from tests.live.versions.scenario import ScenarioRun
from tests.recordings.version_recording import VersionRecording, VersionVariant, write_recording

ALL_PACKAGES = PACKAGES | DESCRIBED_PACKAGES
HEIGHT = 46
_WINDOW_STYLES = {"dark": "default", "light": "fg=colour16,bg=colour231"}
_TITLE_REPEAT_NS = 5 * 10**9
_NEUTRAL_HOME = "/home/dev/agent"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = re.compile(r"\b(toolu|msg|req|call|resp|ctc|fc|ses|per|que|prt)_[0-9A-Za-z]{12,}\b")


def record_version(
    agent: str, version: str, variant: VersionVariant, *, is_held_out: bool
) -> tuple[VersionRecording, list[str]]:
    """Run the scenario and return the recording, with the steps that could not be recorded."""
    package = ALL_PACKAGES[agent]
    program = package.install(version)
    with open_model_server() as model, make_short_folder() as folder, run_private_tmux(folder) as tmux:
        place = AgentFolders(Path(folder) / "agent", model.address)
        place.folder.mkdir()
        package.prepare(place, program)
        if variant.has_hooks:
            assert package.prepare_hooks, f"{agent} has no hooks"
            package.prepare_hooks(place)
            package.drop_unknown_hooks(place, program)
        if package.settings:
            with (place.home / package.settings[0]).open("a") as file:
                file.write(package.settings[1])
        agent_pane = AgentPane(tmux, place, program, width=variant.width, height=HEIGHT)
        run = ScenarioRun(package, agent_pane, model, window_style=_WINDOW_STYLES[variant.theme])
        run.run()
        recording = VersionRecording(
            agent=agent,
            version=version,
            variant=variant,
            height=HEIGHT,
            is_held_out=is_held_out,
            runtime=run.runtime,
            moments=tuple(run.moments),
            samples=tuple(run.samples),
        )
        return neutralize(drop_repeated_titles(recording, package.adapter), agent_pane), run.skipped


def drop_repeated_titles(recording: VersionRecording, adapter: Adapter) -> VersionRecording:
    """Drop titles that repeat the last one but for a spinner, unless seconds have passed."""
    last: tuple[list[tuple[str, str | None, str | None]], int] = ([], 0)
    samples = []
    for sample in recording.samples:
        kept = []
        for record in sample.records:
            meaning = [(one.kind, one.state, one.title) for one in adapter.read_record(record)]
            if record.source != "title":
                kept.append(record)
            elif meaning != last[0] or record.at - last[1] > _TITLE_REPEAT_NS:
                kept.append(record)
                last = (meaning, record.at)
        if kept or sample.rows is not None:
            samples.append(replace(sample, records=tuple(kept)))
    return replace(recording, samples=tuple(samples))


def neutralize(recording: VersionRecording, agent_pane: AgentPane) -> VersionRecording:
    """Replace the paths, ids and names of this machine."""
    place, runtime = agent_pane.place, recording.runtime
    folder = str(place.folder)
    text = msgspec.json.encode(recording).decode()
    plain = {
        folder: _NEUTRAL_HOME,
        folder.lstrip("/"): _NEUTRAL_HOME.lstrip("/"),
        re.sub(r"[^a-zA-Z0-9]", "-", folder): _NEUTRAL_HOME.replace("/", "-"),
        str(FOLDER): "/opt/agents",
        str(FOLDER.resolve()): "/opt/agents",
        agent_pane.tmux.socket: "/tmp/tmux-1000/default",
        f"127.0.0.1:{place.model.rpartition(':')[2]}": "127.0.0.1:8787",
        agent_pane.tmux.read_format(agent_pane.pane, ",#{pid},"): ",4000,",
    }
    for old, new in plain.items():
        text = text.replace(old, new)
    text = re.sub(rf"\b{runtime.pid}\b", "4242", text)
    text = re.sub(rf"\b{runtime.pid_started}\b", "77000", text)
    text = re.sub(r"linux:[0-9a-f]{32}:pid:\[\d+\]", "linux:0:pid:[1]", text)
    ids: dict[str, str] = {}
    text = _UUID.sub(lambda found: _replace_id(ids, found[0], "00000000-0000-4000-8000-{:012d}"), text)
    text = _ID.sub(lambda found: _replace_id(ids, found[0], found[1] + "_{:012d}"), text)
    return msgspec.json.decode(text, type=VersionRecording)


def _replace_id(ids: dict[str, str], old: str, form: str) -> str:
    return ids.setdefault(old, form.format(len(ids) + 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", choices=ALL_PACKAGES)
    parser.add_argument("version")
    parser.add_argument("--width", type=int, default=110)
    parser.add_argument("--hooks", action="store_true")
    parser.add_argument("--theme", default="dark", choices=_WINDOW_STYLES)
    parser.add_argument("--held-out", action="store_true", help="judge by it, change no rule because of it")
    args = parser.parse_args()
    variant = VersionVariant(width=args.width, has_hooks=args.hooks, theme=args.theme)
    recording, skipped = record_version(args.agent, args.version, variant, is_held_out=args.held_out)
    write_recording(recording)
    print(f"{args.agent} {args.version} {variant.name}: {len(recording.moments)} moments")
    for line in skipped:
        print(f"  not recorded: {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
