"""Makes an environment with the test tools for every other Python of this machine that Termvisor supports.

Run by .ci/setup with the .venv's Python. The environments are .parts/pythons/<version>; a version that is gone is
removed. Debian's own interpreter is found too: Debian 12 has 3.11.2, which matches some patterns wrongly. Safe to
repeat: the stamp is written last. Usage: .ci/pythons.py [check]       check: exit with 1 if one is not ready
"""

import glob
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = os.path.join(ROOT, ".parts", "pythons")
OLDEST = (3, 11)
PLACES = (
    "/usr/bin/python3*",
    "/usr/local/bin/python3*",
    "/opt/homebrew/bin/python3*",
    "~/.pyenv/versions/*/bin/python3",
    "~/.local/share/uv/python/*/bin/python3",
)
NOT_NEEDED = ("import-linter", "mypy", "pytest-xdist", "ruff", "types-")
PROBE = "import sys, venv; print('.'.join(map(str, sys.version_info[:3])))"


def main(mode: str) -> int:
    found = {version: python for version, python in find_pythons().items() if version != own_version()}
    if mode == "check":
        return 0 if all(os.path.exists(stamp(version)) for version in found) else 1
    for name in set(os.listdir(PARTS) if os.path.isdir(PARTS) else ()) - set(found):
        shutil.rmtree(os.path.join(PARTS, name))
    for version, python in found.items():
        if not os.path.exists(stamp(version)):
            make(version, python)
    return 0


def find_pythons() -> dict[str, str]:
    """Return one interpreter for each version."""
    names = [path for place in PLACES for path in sorted(glob.glob(os.path.expanduser(place)))]
    names += [path for minor in range(OLDEST[1], 20) if (path := shutil.which(f"python3.{minor}"))]
    found: dict[str, str] = {}
    for name in names:
        version = read_version(name)
        if version and tuple(map(int, version.split(".")[:2])) >= OLDEST:
            found.setdefault(version, name)
    return found


def read_version(python: str) -> str:
    """Return the version; empty for what is no Python, such as python3-config or a shim with nothing behind it."""
    try:
        run = subprocess.run([python, "-Ic", PROBE], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def own_version() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def stamp(version: str) -> str:
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as project, open(__file__, "rb") as script:
        digest = hashlib.sha256(project.read() + script.read() + ROOT.encode()).hexdigest()[:12]
    return os.path.join(PARTS, version, f".ready-{digest}")


def make(version: str, python: str) -> None:
    folder = os.path.join(PARTS, version)
    print(f"setup: making .parts/pythons/{version} with {python}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    # Without pip: Debian has it in a package of its own, and ours can install for another interpreter.
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    own = os.path.join(folder, "bin", "python")
    link = [own, os.path.join(ROOT, ".ci", "link.py"), ROOT, "dev"]
    listed = subprocess.run(link, check=True, capture_output=True, text=True).stdout.splitlines()
    install = [sys.executable, "-m", "pip", "--python", own, "install", "-qq", "--no-input", "--only-binary", ":all:"]
    subprocess.run([*install, *(item for item in listed if not item.startswith(NOT_NEEDED))], check=True)
    with open(os.path.join(folder, ".requirements-optional"), encoding="utf-8") as optional:
        # Not every interpreter has a wheel; the other engine gives the same results.
        subprocess.run([*install, *optional.read().splitlines()], check=False)
    with open(stamp(version), "w", encoding="utf-8"):
        pass


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["make"])))
