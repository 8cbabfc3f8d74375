"""Analyze programs that manage packages, services, processes, accounts, disks and the machine."""

from termvisor.policy.shell.call import NO_EFFECT, CommandEffect, ProgramCall, classify, merge_effects, parse_options
from termvisor.policy.shell.programs.interpreter import analyze_input
from termvisor.policy.shell.programs.program_table import ProgramEffectRule, build_analyzers, split_names

_INSTALL_VERBS = (
    "install add remove rm uninstall purge update upgrade dist-upgrade full-upgrade autoremove reinstall link"
    " i in ci un up dlx exec create get inject tap untap publish unpublish yank"
)
_VERBS_BY_PACKAGE_MANAGER = split_names(
    {
        "apt apt-get aptitude zypper port flatpak": _INSTALL_VERBS,
        "dnf yum": _INSTALL_VERBS + " erase downgrade",
        "apk": _INSTALL_VERBS + " del fix",
        "brew": _INSTALL_VERBS + " cleanup",
        "snap": _INSTALL_VERBS + " refresh revert",
        "pip": "install uninstall",
        "pipx": "install uninstall run upgrade inject upgrade-all",
        "conda mamba": "install remove update create uninstall",
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
)
_STATUS_VERBS = (
    "status show list-units list-unit-files is-active is-enabled is-failed cat help list-timers list-sockets"
    " list-dependencies list-jobs get-default show-environment list print blame --status-all"
)
_SERVICE_OPTIONS = "-t -p -H -M -n -u"
_DISK_PROGRAMS = (
    "mkfs fdisk sfdisk gdisk sgdisk cfdisk parted wipefs mkswap blkdiscard hdparm badblocks zpool zfs lvremove vgremove"
    " pvremove lvreduce cryptsetup mdadm diskutil format newfs tune2fs resize2fs mke2fs btrfs"
)
_ACCOUNT_PROGRAMS = (
    "useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd visudo chsh gpasswd"
)
_MACHINE_PROGRAMS = (
    "shutdown reboot halt poweroff init telinit iptables ip6tables nft ufw firewall-cmd modprobe rmmod insmod"
    " swapoff swapon umount mount sysctl hostnamectl timedatectl kexec setenforce update-grub grub-install"
)
_READ_ONLY_WORDS = ("-L", "--list", "-l", "list", "status", "-S", "--list-rules", "-n", "-a", "--all", "show")


def _analyze_package(call: ProgramCall) -> CommandEffect:
    options = parse_options(call.arguments, "-c -C --prefix --cwd --dir -o -p", stops_at_operand=True)
    verb = options.rest[0].text if options.rest else ""
    if call.name == "yarn" and not call.arguments:
        return classify("package_change")
    if call.name == "uv" and verb in ("pip", "tool"):
        verb = "add" if len(options.rest) > 1 and options.rest[1].text not in ("list", "freeze", "show", "dir") else ""
    if options.rest and not options.rest[0].is_known:
        return classify("dynamic")
    known = _VERBS_BY_PACKAGE_MANAGER[call.name].split()
    return classify("package_change", when=verb in known or any(flag in known for flag in options.flags))


def _analyze_flagged(call: ProgramCall) -> CommandEffect:
    """Analyze pacman, dpkg and rpm, whose verbs are options."""
    changes = {"pacman": "SRUD", "yay": "SRUD", "paru": "SRUD", "dpkg": "irP", "rpm": "iUeF"}[call.name]
    flags = parse_options(call.arguments).flags
    is_query = call.name in ("pacman", "yay", "paru") and any(flag in ("-s", "-i", "-Q", "-F", "-l") for flag in flags)
    is_change = any(flag[1:] in changes for flag in flags if len(flag) == 2) or any(
        flag in ("--install", "--remove", "--purge", "--erase", "--upgrade", "--sync") for flag in flags
    )
    return classify("package_change", when=is_change and not is_query)


def _analyze_machine(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    if call.name in ("mount", "sysctl", "swapon", "hostnamectl", "timedatectl", "nft", "ufw") and not texts:
        return NO_EFFECT
    if call.name == "sysctl":
        is_change = any("=" in text or text in ("-w", "-p", "--load", "--system") for text in texts)
        return classify("service_change", when=is_change)
    return classify("service_change", when=not any(text in _READ_ONLY_WORDS for text in texts[:2]))


def _analyze_schedule(call: ProgramCall) -> CommandEffect:
    """Analyze crontab and at, which schedule commands unless they only list them."""
    if parse_options(call.arguments, "-u").has("-l"):
        return NO_EFFECT
    return merge_effects(classify("service_change"), analyze_input(call) if call.name != "crontab" else NO_EFFECT)


def _analyze_kill(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    is_query = texts[:1] in (["-0"], ["-l"], ["-L"], ["--list"], ["--help"]) or texts[:2] == ["-s", "0"]
    return classify("process_kill", when=texts and not is_query)


def _analyze_service_script(call: ProgramCall) -> CommandEffect:
    """Analyze `service`, whose first operand is the service and whose second is the verb."""
    texts = [word.text for word in parse_options(call.arguments, _SERVICE_OPTIONS).operands[1:]]
    return classify("service_change", when=texts and texts[0] not in _STATUS_VERBS.split())


ANALYZERS = build_analyzers(
    {
        " ".join(_VERBS_BY_PACKAGE_MANAGER): _analyze_package,
        "pacman yay paru dpkg rpm": _analyze_flagged,
        _DISK_PROGRAMS: ProgramEffectRule(
            classes=("disk",),
            needs="argument",
            harmless_words="-l --list list print status info -n --no-act show get history luksDump",
        ),
        "systemctl launchctl rc-service initctl sv supervisorctl": ProgramEffectRule(
            classes=("service_change",),
            options_with_value=_SERVICE_OPTIONS,
            needs="operand",
            harmless_verbs=_STATUS_VERBS,
        ),
        "service": _analyze_service_script,
        _MACHINE_PROGRAMS: _analyze_machine,
        "crontab at batch": _analyze_schedule,
        "kill pkill killall skill xkill": _analyze_kill,
        "fuser": ProgramEffectRule(classes=("process_kill",), options_with_value="-n", flags="-k --kill"),
        _ACCOUNT_PROGRAMS: ProgramEffectRule(classes=("permissions",)),
    }
)
