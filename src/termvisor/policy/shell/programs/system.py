"""Analyze programs that manage packages, services, processes, accounts, disks and the machine."""

from termvisor.policy.shell import getopt
from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.effect import NO_EFFECT, CommandEffect, EffectAnalyzer, merge_effects
from termvisor.policy.shell.programs.interpreter import analyze_input

_INSTALL_VERBS = (
    "install add remove rm uninstall purge update upgrade dist-upgrade full-upgrade autoremove reinstall link"
    " i in ci un up dlx exec create get inject tap untap publish unpublish yank"
)
_VERBS_BY_PACKAGE_MANAGER: dict[str, str] = {
    "apt": _INSTALL_VERBS,
    "apt-get": _INSTALL_VERBS,
    "aptitude": _INSTALL_VERBS,
    "dnf": _INSTALL_VERBS + " erase downgrade",
    "yum": _INSTALL_VERBS + " erase downgrade",
    "zypper": _INSTALL_VERBS,
    "apk": _INSTALL_VERBS + " del fix",
    "brew": _INSTALL_VERBS + " cleanup",
    "port": _INSTALL_VERBS,
    "snap": _INSTALL_VERBS + " refresh revert",
    "flatpak": _INSTALL_VERBS,
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
_STATUS_VERB_NAMES = (
    "status show list-units list-unit-files is-active is-enabled is-failed cat help list-timers list-sockets"
    " list-dependencies list-jobs get-default show-environment list print blame --status-all"
)
_STATUS_VERBS = frozenset(_STATUS_VERB_NAMES.split())
_DISK_PROGRAMS = (
    "mkfs fdisk sfdisk gdisk sgdisk cfdisk parted wipefs mkswap blkdiscard hdparm badblocks zpool zfs lvremove vgremove"
    " pvremove lvreduce cryptsetup mdadm diskutil format newfs tune2fs resize2fs mke2fs btrfs"
)
_READ_ONLY_DISK_WORD_NAMES = "-l --list list print status info -n --no-act show get history luksDump"
_READ_ONLY_DISK_WORDS = frozenset(_READ_ONLY_DISK_WORD_NAMES.split())
_ACCOUNT_PROGRAMS = (
    "useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd visudo chsh gpasswd"
)
_MACHINE_PROGRAMS = (
    "shutdown reboot halt poweroff init telinit iptables ip6tables nft ufw firewall-cmd modprobe rmmod insmod"
    " swapoff swapon umount mount sysctl hostnamectl timedatectl kexec setenforce update-grub grub-install"
)
_READ_ONLY_WORDS = ("-L", "--list", "-l", "list", "status", "-S", "--list-rules", "-n", "-a", "--all", "show")
_PACKAGE_CHANGE = CommandEffect(classes=("package_change",))
_SERVICE_CHANGE = CommandEffect(classes=("service_change",))
_PROCESS_KILL = CommandEffect(classes=("process_kill",))


def _analyze_package(call: ProgramCall) -> CommandEffect:
    options = getopt.parse_options(call.arguments, "-c -C --prefix --cwd --dir -o -p", stops_at_operand=True)
    verb = options.rest[0].text if options.rest else ""
    if call.name == "yarn" and not call.arguments:
        return _PACKAGE_CHANGE
    if call.name == "uv" and verb in ("pip", "tool"):
        verb = "add" if len(options.rest) > 1 and options.rest[1].text not in ("list", "freeze", "show", "dir") else ""
    if options.rest and not options.rest[0].is_known:
        return CommandEffect(classes=("dynamic",))
    known = _VERBS_BY_PACKAGE_MANAGER[call.name].split()
    return _PACKAGE_CHANGE if verb in known or any(flag in known for flag in options.flags) else NO_EFFECT


def _analyze_flagged(call: ProgramCall) -> CommandEffect:
    """Analyze pacman, dpkg and rpm, whose verbs are options."""
    changes = {"pacman": "SRUD", "yay": "SRUD", "paru": "SRUD", "dpkg": "irP", "rpm": "iUeF"}[call.name]
    flags = getopt.parse_options(call.arguments).flags
    is_query = call.name in ("pacman", "yay", "paru") and any(flag in ("-s", "-i", "-Q", "-F", "-l") for flag in flags)
    is_change = any(flag[1:] in changes for flag in flags if len(flag) == 2) or any(
        flag in ("--install", "--remove", "--purge", "--erase", "--upgrade", "--sync") for flag in flags
    )
    return _PACKAGE_CHANGE if is_change and not is_query else NO_EFFECT


def _analyze_service(call: ProgramCall) -> CommandEffect:
    words = getopt.parse_options(call.arguments, "-t -p -H -M -n -u").operands
    texts = [word.text for word in words]
    if call.name == "service":
        texts = texts[1:]
    return NO_EFFECT if not texts or texts[0] in _STATUS_VERBS else _SERVICE_CHANGE


def _analyze_machine(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    if call.name in ("mount", "sysctl", "swapon", "hostnamectl", "timedatectl", "nft", "ufw") and not texts:
        return NO_EFFECT
    if call.name == "sysctl":
        is_change = any("=" in text or text in ("-w", "-p", "--load", "--system") for text in texts)
        return _SERVICE_CHANGE if is_change else NO_EFFECT
    return NO_EFFECT if any(text in _READ_ONLY_WORDS for text in texts[:2]) else _SERVICE_CHANGE


def _analyze_schedule(call: ProgramCall) -> CommandEffect:
    """Analyze crontab and at, which schedule a later run unless they only list."""
    if getopt.parse_options(call.arguments, "-u").has("-l"):
        return NO_EFFECT
    return merge_effects(_SERVICE_CHANGE, analyze_input(call) if call.name in ("at", "batch") else NO_EFFECT)


def _analyze_kill(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    is_query = texts[:1] in (["-0"], ["-l"], ["-L"], ["--list"], ["--help"]) or texts[:2] == ["-s", "0"]
    return NO_EFFECT if not texts or is_query else _PROCESS_KILL


def _analyze_fuser(call: ProgramCall) -> CommandEffect:
    return _PROCESS_KILL if getopt.parse_options(call.arguments, "-n").has("-k", "--kill") else NO_EFFECT


def _analyze_disk(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    is_change = bool(texts) and _READ_ONLY_DISK_WORDS.isdisjoint(texts)
    return CommandEffect(classes=("disk",)) if is_change else NO_EFFECT


def _analyze_account(call: ProgramCall) -> CommandEffect:
    return CommandEffect(classes=("permissions",))


ANALYZERS: dict[str, EffectAnalyzer] = {}
ANALYZERS |= dict.fromkeys(_VERBS_BY_PACKAGE_MANAGER, _analyze_package) | dict.fromkeys(
    _DISK_PROGRAMS.split(), _analyze_disk
)
ANALYZERS |= dict.fromkeys(("pacman", "yay", "paru", "dpkg", "rpm"), _analyze_flagged)
ANALYZERS |= dict.fromkeys(
    ("systemctl", "service", "launchctl", "rc-service", "initctl", "sv", "supervisorctl"), _analyze_service
)
ANALYZERS |= dict.fromkeys(_MACHINE_PROGRAMS.split(), _analyze_machine) | dict.fromkeys(
    ("crontab", "at", "batch"), _analyze_schedule
)
ANALYZERS |= dict.fromkeys(("kill", "pkill", "killall", "skill", "xkill"), _analyze_kill) | {"fuser": _analyze_fuser}
ANALYZERS |= dict.fromkeys(_ACCOUNT_PROGRAMS.split(), _analyze_account)
