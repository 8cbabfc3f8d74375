"""A real agent in a pane that is watched, and a person who has `visor` elsewhere."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.compiled import lend
from tests.live.agents.codex_stage import Pane
from tests.live.agents.lab import Program, Workplace
from tests.live.agents.stage import Stage
from tests.live.looking import look
from tests.live.waiting import until


@dataclass
class Company:
    visor: Instance
    stage: Stage

    @property
    def pane(self) -> str:
        """Our number for it, once the agent in it is known."""
        found = until(lambda: [one for one in look(self.visor, "state")["items"] if one.get("agent")], seconds=60)
        return str(found[0]["identity"]["id"])

    def state(self) -> str:
        return next((one["state"] for one in look(self.visor, "state")["items"] if one.get("agent")), "")

    def asked(self) -> dict:
        """The open question, once there is one."""
        return until(lambda: look(self.visor, "inbox")["items"], seconds=90)[0]

    def states(self) -> list[str]:
        return [item["state"] for item in look(self.visor, "inbox", "--all")["items"]]

    def story(self, correlation: str) -> list[tuple[str, str, str]]:
        items = look(self.visor, "audit", "--limit", "50")["items"]
        return [(one["stage"], one["outcome"], one["why"]) for one in items if one["correlation"] == correlation]

    def person(self, words: str, awaited: str) -> str:
        """What a person reads who types this at a terminal that nobody watches."""
        with short_folder() as folder, private_tmux(folder) as own:
            known = {**self.visor.env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            given = " ".join(shlex.quote(f"{name}={value}") for name, value in known.items())
            run = f"{sys.executable} -m termvisor {words}; exec cat"
            pane = own.start("own", f"exec env {given} sh -c {shlex.quote(run)}", width=200)

            def screen() -> str:
                return own("capture-pane", "-p", "-J", "-t", pane)

            return until(lambda: shown if awaited in (shown := screen()) else "", seconds=30)

    def act(self, *words: str) -> dict:
        """As a person who said yes beforehand: the policy asks nobody else."""
        self.rule('[[rule]]\nid = "free"\nanswer = "allow"\nwhen = { actor = ["robot"] }\n')
        return self.visor.robot(*words)

    def foreseen(self, *words: str) -> dict:
        return self.visor.robot(*words, "--dry-run")["foreseen"]

    def refused(self, *words: str) -> str:
        """Why nothing was done."""
        status, out, _ = self.visor.run("robot", *words)
        assert status == 75, out
        return msgspec.json.decode(out)["error"]["details"]["why"]

    def refused_in(self, *words: str) -> str:
        """The words in which it was refused."""
        status, out, _ = self.visor.run("robot", *words)
        assert status, out
        return msgspec.json.decode(out)["error"]["message"]

    def sessions(self) -> list[dict]:
        return look(self.visor, "agents", "sessions")["items"]

    def heard_by_server(self) -> bool:
        """Whether the agent's own server is heard."""
        return self.server()["status"] == "well"

    def server(self) -> dict:
        """How its own server is said to do; without a status before it is known."""
        sources = look(self.visor, "list-sources")["items"]
        return next((one for one in sources if one["source"] in ("app_server", "server")), {"status": ""})

    def explained(self) -> dict:
        return look(self.visor, "explain", self.pane)

    def rule(self, text: str) -> None:
        """A policy of the person's own."""
        folder = Path(self.visor.places.config_dir)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "policy.toml").write_text(text)

    def file(self, name: str) -> Path:
        return self.stage.place.cwd / name


@contextmanager
def company(
    program: Program,
    model: str,
    shows: str,
    *,
    hooks: str = "",
    settings: Mapping[str, str] = {},
    words: tuple[str, ...] = (),
) -> Iterator[Company]:
    """``hooks``: the agent whose hooks `visor setup agents` puts in first; ``words``: how else it is started."""
    with short_folder() as folder, private_tmux(folder) as tmux, instance(folder, tmux.socket, **settings) as visor:
        lend(visor.places)
        place = Workplace(Path(folder) / "agent", model)
        place.folder.mkdir()
        program.settle(place)
        visor.env = {**visor.env, "HOME": str(place.home)}
        if hooks:
            visor.visor("setup", "agents", "--agent", hooks, "--yes")
        stage = Pane(tmux, place, program)
        stage.start(shows, *words)
        visor.up()
        yield Company(visor, stage)
