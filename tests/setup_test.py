"""tools/setup against a system made of stubs: what it would install, and what it says when it cannot."""

import shutil
import subprocess
from pathlib import Path

import pytest


def without(packages, *missing):
    return [package for package in packages if package not in missing]


SETUP = Path(__file__).resolve().parent.parent / "tools/setup"
BUILD = "g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libhwy-dev zlib1g-dev libpng-dev".split()
TEST = BUILD + "libgtest-dev clang python3 python3-numpy python3-pytest".split()
BENCH = BUILD + "libopenblas-dev python3 python3-numpy python3-sklearn python3-torch python3-matplotlib".split()
ALL = TEST + without(BENCH, *TEST)

STUBS = {
    # Like the real one: the asked-for packages that it knows, and exit code 1 if it does not know one.
    "dpkg-query": """
        code=0
        for package in "${@:4}"; do
          if [[ " $(<"$SYSTEM/packages") " == *" $package "* ]]; then printf 'installed:%s ' "$package"
          elif [[ $package == clang ]]; then printf 'config-files:%s ' "$package"
          else code=1; fi
        done
        exit $code""",
    "apt-get": """
        printf 'apt-get %s %s\\n' "$DEBIAN_FRONTEND" "$*" >>"$SYSTEM/log"
        [[ $* != *" update" ]] || { : >"$SYSTEM/lists"; exit 0; }
        [[ -e "$SYSTEM/lists" && $* != *" $APT_FAILS" ]] || exit 100
        printf ' %s' "$@" >>"$SYSTEM/packages"
        [[ $* != *" cmake"* ]] || printf 'cmake version 3.25.1' >"$SYSTEM/cmake-version" """,
    "sudo": """printf 'sudo ' >>"$SYSTEM/log"; exec "$@" """,
    "cmake": """printf '%s\\n' "$(<"$SYSTEM/cmake-version")" """,
    "id": "echo $USER_ID",
    "npm": "",
}


class System:
    """A PATH that holds nothing but stubs (and env, cat), and the record of what was called."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in STUBS.items():
            file = folder / name
            file.write_text(f"#!{shutil.which('bash')}\n{text}\n")
            file.chmod(0o755)
        for name in ("env", "cat"):
            (folder / name).symlink_to(shutil.which(name))
        (folder / "cmake-version").write_text("cmake version 3.25.1\n")
        (folder / "lists").touch()

    def run(self, *groups, installed=ALL, without=(), user=0, **environment):
        for name in without:
            (self.folder / name).unlink()
        (self.folder / "packages").write_text(" ".join(installed))
        stubs = {"PATH": self.folder, "SYSTEM": self.folder, "USER_ID": str(user), "APT_FAILS": "-"}
        command = [shutil.which("bash"), SETUP, *groups]
        done = subprocess.run(command, env={**stubs, **environment}, capture_output=True, text=True)
        log = self.folder / "log"
        self.calls = log.read_text().splitlines() if log.exists() else []
        return done


@pytest.fixture
def system(tmp_path):
    folder = tmp_path / "a system"
    folder.mkdir()
    return System(folder)


def installing(*packages):
    options = "-q -o DPkg::Lock::Timeout=120"
    return f"apt-get noninteractive {options} install -y --no-remove --no-install-recommends {' '.join(packages)}"


UPDATE = "apt-get noninteractive -q -o DPkg::Lock::Timeout=120 update"


@pytest.mark.parametrize("group", ["build", "test", "demo", "bench"])
def test_does_nothing_when_nothing_is_missing(system, group):
    done = system.run(group)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert system.calls == []


def test_installs_just_what_is_missing(system):
    assert system.run("build", "test", installed=without(TEST, "libfmt-dev", "clang")).returncode == 0
    assert system.calls == [installing("libfmt-dev", "clang")]


def test_building_does_not_ask_for_the_packages_of_the_tests(system):
    assert system.run("build", installed=BUILD).returncode == 0
    assert system.calls == []


def test_measuring_asks_for_the_contenders_and_nobody_else_does(system):
    assert system.run("build", "test", "demo", installed=TEST).returncode == 0
    assert system.calls == []
    assert system.run("bench", installed=TEST).returncode == 0
    assert system.calls == [installing(*without(BENCH, *TEST))]


def test_fetches_the_package_lists_only_when_needed(system):
    (system.folder / "lists").unlink()
    assert system.run("build", installed=without(BUILD, "g++")).returncode == 0
    assert system.calls == [installing("g++"), UPDATE, installing("g++")]


def test_uses_sudo_when_not_root(system):
    assert system.run("build", installed=without(BUILD, "zlib1g-dev"), user=1000).returncode == 0
    assert system.calls == ["sudo " + installing("zlib1g-dev")]


def test_says_what_to_do_without_root_and_sudo(system):
    done = system.run("build", installed=without(BUILD, "g++", "libpng-dev"), user=1000, without=["sudo"])
    assert done.returncode == 1
    assert "apt-get install -y --no-remove --no-install-recommends g++ libpng-dev\n" in done.stderr
    assert system.calls == []


def test_says_what_to_do_when_installing_fails(system):
    done = system.run("build", installed=without(BUILD, "g++"), APT_FAILS="g++")
    assert done.returncode == 1
    assert "--no-install-recommends g++\n" in done.stderr


@pytest.mark.parametrize("missing", ["apt-get", "dpkg-query"])
def test_lists_the_needs_on_another_system(system, missing):
    done = system.run("build", without=[missing])
    assert done.returncode == 1
    for need in ["g++ 12", "clang 14", "CMake 3.25", "Ninja", "fmt 9", "GoogleTest", "ERGODIC_SKIP_SETUP=1"]:
        assert need in done.stderr


def test_can_be_skipped(system):
    done = system.run("build", installed=[], without=["apt-get"], ERGODIC_SKIP_SETUP="1")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_cmake_from_elsewhere_counts(system):
    assert system.run("build", installed=without(BUILD, "cmake")).returncode == 0
    assert system.calls == []


def test_an_old_cmake_does_not_count(system):
    (system.folder / "cmake-version").write_text("cmake version 3.9.6\n")
    assert system.run("build", installed=without(BUILD, "cmake")).returncode == 0
    assert system.calls == [installing("cmake")]


def test_says_so_when_the_package_of_cmake_is_too_old(system):
    (system.folder / "cmake-version").write_text("cmake version 3.22.1\n")
    done = system.run("build", installed=BUILD)
    assert done.returncode == 1
    assert "CMake 3.25 or newer is needed" in done.stderr


@pytest.mark.parametrize("group", ["demo", "bench"])
def test_installs_npm_where_there_is_none(system, group):
    assert system.run(group, without=["npm"]).returncode == 0
    assert system.calls == [installing("npm")]


@pytest.mark.parametrize("group", ["demo", "bench"])
def test_goes_on_without_npm(system, group):
    done = system.run(group, without=["npm"], APT_FAILS="npm")
    assert done.returncode == 0
    assert "warning: could not install npm" in done.stderr


@pytest.mark.parametrize("groups", [[], ["bild"]])
def test_wrong_usage_is_rejected(system, groups):
    done = system.run(*groups)
    assert done.returncode == 2
    assert "build, test, demo, bench, lint, figures and sanitize" in done.stderr
