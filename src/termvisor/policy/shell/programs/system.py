"""Packages, services, processes, accounts, disks and the machine itself."""

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.programs.runner import feed

_INSTALL = "install add remove rm uninstall purge update upgrade dist-upgrade full-upgrade autoremove reinstall link"
_INSTALL += " i in ci un up dlx exec create get inject tap untap publish unpublish yank"
_PACKAGES: dict[str, str] = {
    "apt": _INSTALL,
    "apt-get": _INSTALL,
    "aptitude": _INSTALL,
    "dnf": _INSTALL + " erase downgrade",
    "yum": _INSTALL + " erase downgrade",
    "zypper": _INSTALL,
    "apk": _INSTALL + " del fix",
    "brew": _INSTALL + " cleanup",
    "port": _INSTALL,
    "snap": _INSTALL + " refresh revert",
    "flatpak": _INSTALL,
    "pip": "install uninstall",
    "pipx": "install uninstall run upgrade inject upgrade-all",
    "conda": "install remove update create uninstall",
    "mamba": "install remove update create uninstall",
    "uv": "add remove sync lock",
    "poetry": "add remove install update publish",
    "npm": "install i add ci uninstall un remove rm r update up upgrade link exec x publish unpublish init create",
    "pnpm": "install i add remove rm update up dlx exec publish link",
    "yarn": "add remove install upgrade dlx create publish global link",
    "bun": "install i add remove rm update x publish link",
    "gem": "install uninstall update push yank",
    "bundle": "install update add remove",
    "cargo": "install uninstall add remove publish yank",
    "go": "install get",
    "composer": "install require remove update global",
    "nix-env": "-i -e -u --install --uninstall --upgrade",
    "opkg": "install remove upgrade",
}
_STATUS: tuple[str, ...] = (
    "status",
    "show",
    "list-units",
    "list-unit-files",
    "is-active",
    "is-enabled",
    "is-failed",
    "cat",
    "help",
)
_STATUS += ("list-timers", "list-sockets", "list-dependencies", "list-jobs", "get-default", "show-environment")
_DISK = (
    "mkfs fdisk sfdisk gdisk sgdisk cfdisk parted wipefs mkswap blkdiscard hdparm badblocks zpool zfs lvremove vgremove"
)
_DISK += " pvremove lvreduce cryptsetup mdadm diskutil format newfs tune2fs resize2fs mke2fs btrfs"
_DISK_LOOKS = (
    "-l",
    "--list",
    "list",
    "print",
    "status",
    "info",
    "-n",
    "--no-act",
    "show",
    "get",
    "history",
    "luksDump",
)
_ACCOUNTS = "useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd visudo chsh gpasswd"
_MACHINE = "shutdown reboot halt poweroff init telinit iptables ip6tables nft ufw firewall-cmd modprobe rmmod insmod"
_MACHINE += " swapoff swapon umount mount sysctl hostnamectl timedatectl kexec setenforce update-grub grub-install"
_LISTS = ("-L", "--list", "-l", "list", "status", "-S", "--list-rules", "-n", "-a", "--all", "show")


def _package(call: Call) -> Effect:
    found = options.read(call.arguments, "-c -C --prefix --cwd --dir -o -p", is_prefix=True)
    verb = found.rest[0].text if found.rest else ""
    if call.name == "yarn" and not call.arguments:
        return _PACKAGE
    if call.name == "uv" and verb in ("pip", "tool"):
        verb = "add" if len(found.rest) > 1 and found.rest[1].text not in ("list", "freeze", "show", "dir") else ""
    if found.rest and not found.rest[0].is_known:
        return Effect(classes=("dynamic",))
    known = _PACKAGES[call.name].split()
    return _PACKAGE if verb in known or any(flag in known for flag in found.flags) else NOTHING


_PACKAGE = Effect(classes=("package_change",))


def _flagged(call: Call) -> Effect:
    """pacman, dpkg, rpm: capital or named options change something."""
    changes = {"pacman": "SRUD", "yay": "SRUD", "paru": "SRUD", "dpkg": "irP", "rpm": "iUeF"}[call.name]
    flags = options.read(call.arguments).flags
    is_query = call.name in ("pacman", "yay", "paru") and any(flag in ("-s", "-i", "-Q", "-F", "-l") for flag in flags)
    is_change = any(flag[1:] in changes for flag in flags if len(flag) == 2) or any(
        flag in ("--install", "--remove", "--purge", "--erase", "--upgrade", "--sync") for flag in flags
    )
    return _PACKAGE if is_change and not is_query else NOTHING


def _service(call: Call) -> Effect:
    words = options.read(call.arguments, "-t -p -H -M -n -u").operands
    texts = [word.text for word in words]
    if call.name == "service":
        texts = texts[1:]
    return NOTHING if not texts or texts[0] in (*_STATUS, "list", "print", "blame", "--status-all") else _SERVICE


_SERVICE = Effect(classes=("service_change",))


def _machine(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    if call.name in ("mount", "sysctl", "swapon", "hostnamectl", "timedatectl", "nft", "ufw") and not texts:
        return NOTHING
    if call.name == "sysctl":
        return _SERVICE if any("=" in text or text in ("-w", "-p", "--load", "--system") for text in texts) else NOTHING
    return NOTHING if any(text in _LISTS for text in texts[:2]) else _SERVICE


def _schedule(call: Call) -> Effect:
    """`crontab -l` and `atq` look; the rest plants something that runs later."""
    if options.read(call.arguments, "-u").has("-l"):
        return NOTHING
    return plus(_SERVICE, feed(call) if call.name in ("at", "batch") else NOTHING)


def _kill(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    is_question = texts[:1] in (["-0"], ["-l"], ["-L"], ["--list"], ["--help"]) or texts[:2] == ["-s", "0"]
    return NOTHING if not texts or is_question else Effect(classes=("process_kill",))


def _fuser(call: Call) -> Effect:
    return Effect(classes=("process_kill",)) if options.read(call.arguments, "-n").has("-k", "--kill") else NOTHING


def _disk(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    return NOTHING if not texts or any(text in _DISK_LOOKS for text in texts) else Effect(classes=("disk",))


def _account(call: Call) -> Effect:
    return Effect(classes=("permissions",))


LOOKS: dict[str, Look] = {}
LOOKS |= dict.fromkeys(_PACKAGES, _package) | dict.fromkeys(_DISK.split(), _disk)
LOOKS |= dict.fromkeys(("pacman", "yay", "paru", "dpkg", "rpm"), _flagged)
LOOKS |= dict.fromkeys(("systemctl", "service", "launchctl", "rc-service", "initctl", "sv", "supervisorctl"), _service)
LOOKS |= dict.fromkeys(_MACHINE.split(), _machine) | dict.fromkeys(("crontab", "at", "batch"), _schedule)
LOOKS |= dict.fromkeys(("kill", "pkill", "killall", "skill", "xkill"), _kill) | {"fuser": _fuser}
LOOKS |= dict.fromkeys(_ACCOUNTS.split(), _account)
