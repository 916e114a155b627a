"""tools/fresh against a system made of stubs: its arguments, when it refuses, and what it leaves behind."""

import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Those that need root or a network. What was asked of them is in $SYSTEM/log; $FAILS names the one that does not work.
STUBS = {
    "id": "echo $USER_ID",
    "apt-get": """[[ $* != *indextargets* ]] || printf '%s\\n' "$RELEASES" """,
    "apt-helper": "",
    "apt-config": """echo 'Acquire::http::Proxy "proxy";'; echo 'DPkg::Post-Invoke "hook";' """,
    "git": """[[ $* != *clone* ]] || mkdir -p "${@: -1}/kept" """,
    "unshare": """while [[ $1 == -* ]]; do shift; done; exec "$@" """,
    "setpriv": """while [[ $1 == -* || $1 == KILL ]]; do shift; done; exec "$@" """,
    "mmdebstrap": """for word; do [[ $word != *.tar ]] || echo root >"$word"; done""",
    "tar": """mkdir -p "$2/root" "$2/proc" "$2/sys" "$2/dev" "$2/etc/apt/apt.conf.d" "$2/etc/apt/sources.list.d" """,
    "mount": "",
    # Runs what was asked for with its environment, but in this system, and not what only prepares the root.
    "chroot": """[[ $1 != / && $* != *apt-get* ]] || exit 0
        cp "$1/etc/apt/apt.conf.d/99fresh" "$SYSTEM/apt.conf"
        shift
        while [[ $1 != sh ]]; do environment+=("$1"); shift; done
        exec "${environment[@]}" "${@:5}" """,
}


class System:
    """A clone with nothing but tools/fresh in it, and a PATH that begins with stubs."""

    def __init__(self, folder):
        self.folder = folder / "stubs"
        self.clone = folder / "a clone"
        (self.clone / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/fresh", self.clone / "tools")
        self.folder.mkdir()
        for name, text in STUBS.items():
            self.stub(name, f"""printf '%s\\n' "{name} $*" >>"$SYSTEM/log"\n[[ $FAILS != {name} ]] || exit 9\n{text}""")

    def stub(self, name, text):
        file = self.folder / name
        file.write_text(f"#!{shutil.which('bash')}\n{text}\n")
        file.chmod(0o755)

    def command(self, *words):
        return [str(self.clone / "tools/fresh"), *words]

    def environment(self, user=0, fails="", releases="bookworm mirror/"):
        return {"PATH": f"{self.folder}:/usr/bin:/bin", "SYSTEM": str(self.folder), "USER_ID": str(user),
                "FAILS": fails, "RELEASES": releases, "HOME": str(self.folder), "ERGODIC_TARGET": "plain", "http_proxy": "proxy"}

    def run(self, *words, **options):
        return subprocess.run(self.command(*words), env=self.environment(**options), capture_output=True, text=True)

    def calls(self):
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []

    def left(self):
        """What is in the place of roots."""
        return sorted(path.name for path in (self.clone / "build/fresh").glob("*"))


@pytest.fixture
def system(tmp_path):
    return System(tmp_path)


@pytest.mark.parametrize("words", [(), ("--keep",), ("--keep", "folder"), ("--keep", "folder", "path"),
                                   ("--keep", "folder", "--", "true"), ("--keep", "folder", "path", "--"),
                                   ("--possible", "more"), ("--nonsense", "true")], ids=" ".join)
def test_wrong_usage_is_rejected(system, words):
    done = system.run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "tools/fresh COMMAND..." in done.stderr and "--keep FOLDER PATH... -- COMMAND..." in done.stderr
    assert system.calls() == [] and system.left() == []


KEPT = ["archives", "bookworm.tar"]
REFUSALS = {
    "a user": ({"user": 1000}, "not root"),
    "another release": ({"releases": "trixie mirror/"}, "not set up for Debian 12"),
    "no repository": ({"fails": "git"}, "no git repository"),
    "no namespaces": ({"fails": "unshare"}, "refuses to mount"),
    "no mounts": ({"fails": "mount"}, "refuses to mount"),
    "no chroot": ({"fails": "chroot"}, "chroot"),
    "no network": ({"fails": "apt-helper"}, "cannot be reached"),
}


@pytest.mark.parametrize("words", [("--possible",), ("true",)], ids=" ".join)
@pytest.mark.parametrize("case", REFUSALS)
def test_says_why_it_cannot_make_a_root(system, words, case):
    options, says = REFUSALS[case]
    done = system.run(*words, **options)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("fresh: ") and says in done.stderr and done.stderr.count("\n") == 1
    assert system.left() == []


def test_says_when_it_can(system):
    done = system.run("--possible")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "apt-helper download-file mirror/dists/bookworm/InRelease" in "\n".join(system.calls())
    assert system.left() == []


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_is_that_of_the_command(system, code):
    done = system.run("bash", "-c", f"echo said; exit {code}")
    assert (done.returncode, done.stdout) == (code, "said\n")
    assert f"exit code {code} after" in done.stderr
    assert system.left() == KEPT


def test_the_environment_is_that_of_a_first_login(system):
    variables = dict(line.split("=", 1) for line in system.run("env").stdout.splitlines())
    assert variables["HOME"] == "/root" and variables["http_proxy"] == "proxy"
    assert variables.keys() <= {"HOME", "PATH", "TERM", "http_proxy", "PWD", "SHLVL", "_"}


def test_apt_fetches_as_this_machine_does_without_its_hooks(system):
    system.run("true")
    assert (system.folder / "apt.conf").read_text() == 'Acquire::http::Proxy "proxy";\n'


def test_the_bare_root_is_made_once(system):
    for _ in range(2):
        assert system.run("true").returncode == 0
    assert sum(call.startswith("mmdebstrap") for call in system.calls()) == 1


def test_keeps_what_the_command_left(system, tmp_path):
    done = system.run("--keep", str(tmp_path / "out"), "kept", "nothing", "--", "true")
    assert done.returncode == 0 and "the command left no nothing" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]


@pytest.mark.parametrize("fails", ["mmdebstrap", "tar"])
def test_a_root_that_cannot_be_prepared_is_no_success(system, fails):
    done = system.run("true", fails=fails)
    assert done.returncode != 0 and "could not be prepared" in done.stderr
    assert not [name for name in system.left() if name.startswith("root")]


@pytest.mark.parametrize("how, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_root(system, how, code):
    process = subprocess.Popen(system.command("sleep", "3"), env=system.environment(), stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not any(call.endswith("sleep 3") and call.startswith("chroot") for call in system.calls()):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(how)
    assert process.wait(60) == code
    assert system.left() == KEPT
