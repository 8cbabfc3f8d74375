"""Makes the checkout importable in its own .venv, as an editable install would, without a build or a download.

Run by .ci/setup with the .venv's Python: writes a path file, the metadata and the `visor` launcher, and prints the
requirements of the mode, one a line. Those that a machine may lack go to `.venv/.requirements-optional`.
"""

import glob
import json
import os
import shutil
import sys
import sysconfig
import tomllib

EXTRAS = {"run": ("tui", "pty"), "dev": ("tui", "pty", "dev"), "live": ("tui", "pty", "dev", "live")}
OPTIONAL = ("hyperscan", "pyghostty")


def main(root: str, mode: str) -> None:
    with open(os.path.join(root, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    link(root, project)
    wanted = list(project["dependencies"])
    for extra in EXTRAS[mode]:
        wanted += project.get("optional-dependencies", {}).get(extra, [])
    write(os.path.join(sys.prefix, ".requirements-optional"), [item for item in wanted if item.startswith(OPTIONAL)])
    print(*(item for item in wanted if not item.startswith(OPTIONAL)), sep="\n")


def link(root: str, project: dict) -> None:
    name, version, packages = project["name"], project["version"], sysconfig.get_path("purelib")
    folder = os.path.join(packages, f"{name}-{version}.dist-info")
    for older in glob.glob(os.path.join(glob.escape(packages), f"{name}-*.dist-info")):
        shutil.rmtree(older)
    os.makedirs(folder)
    files = {
        os.path.join(packages, f"{name}.pth"): [os.path.join(root, "src")],
        os.path.join(folder, "METADATA"): ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"],
        os.path.join(folder, "INSTALLER"): ["pip"],
        os.path.join(folder, "direct_url.json"): [
            json.dumps({"url": f"file://{root}", "dir_info": {"editable": True}})
        ],
        os.path.join(folder, "entry_points.txt"): [
            "[console_scripts]",
            *(f"{script} = {entry}" for script, entry in project["scripts"].items()),
        ],
    }
    for path, lines in files.items():
        write(path, lines)
    scripts = [launcher(script, entry) for script, entry in project["scripts"].items()]
    record = os.path.join(folder, "RECORD")
    write(record, [f"{os.path.relpath(path, packages)},," for path in (*files, *scripts, record)])


def launcher(script: str, entry: str) -> str:
    """Write a command that imports nothing of its own: a robot call must cost little more than starting Python."""
    module, _, function = entry.partition(":")
    path = os.path.join(sysconfig.get_path("scripts"), script)
    python = sys.executable
    first = f"#!{python}"
    if " " in python or len(first) > 120:  # the kernel takes neither; sh does
        first = f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''"
    write(path, [first, "import sys", "", f"from {module} import {function}", "", f"sys.exit({function}())"])
    os.chmod(path, 0o755)
    return path


def write(path: str, lines: list[str]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
