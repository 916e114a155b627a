"""Help, reference, completion and config files: all made from one list of options."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BAD_DATA, NO_INPUT, ROOT, USAGE, ask, read_safetensors, refused, succeed

COMMANDS = ["train", "evaluate", "sample", "score", "features", "complete", "compare", "compare-runs", "reconstruct",
            "recall", "inspect", "classify fit", "classify predict", "classify evaluate", "data list", "data get",
            "data show"]


def options_of(command):
    """The options of a command, as its reference lists them."""
    reference = succeed("reference").stdout
    sections = [re.search(rf"^### {title}$(.*?)(?=^### |\Z)", reference, re.MULTILINE | re.DOTALL).group(1)
                for title in (f"ergodic {command}", "Options of every command")]
    return re.findall(r"^\| `([^`]+)`", "".join(sections), re.MULTILINE)


# ---- Help ----


@pytest.mark.parametrize("command", COMMANDS)
def test_help_tells_every_option(command):
    done = succeed(*command.split(), "--help")
    assert done.stderr == ""
    options = options_of(command)
    assert {"--threads", "--json", "--quiet", "--config"} <= set(options)
    for option in options:
        assert re.search(rf"^ +{option}\b", done.stdout, re.MULTILINE | re.IGNORECASE), option
    assert f"ergodic {command}" in done.stdout  # an example


def test_usage_can_be_typed_as_it_stands():
    for command in [*COMMANDS, "data", "completion", "reference"]:
        assert f"Usage: ergodic {command}" in succeed(*command.split(), "--help").stdout


def test_help_of_the_whole():
    done = succeed("--help")
    for word in ("train", "evaluate", "sample", "compare", "reconstruct", "recall", "inspect", "data", "completion",
                 "reference", "help"):
        assert re.search(rf"^ +{word} ", done.stdout, re.MULTILINE)
    assert done.stdout == succeed("-h").stdout == succeed("help").stdout == succeed().stdout


@pytest.mark.parametrize("command", [*COMMANDS, "data", "completion", "train --model hopfield"])
def test_help_is_a_command_too(command):
    assert succeed("help", *command.split()).stdout == succeed(*command.split(), "--help").stdout


def test_what_must_be_given_stands_in_the_usage():
    assert "Usage: ergodic sample MODEL --out FILE [options]\n" in succeed("sample", "--help").stdout
    assert "Usage: ergodic data get NAME [options]\n" in succeed("data", "get", "--help").stdout


def test_what_is_seldom_needed_comes_last_and_machines_together():
    text = succeed("train", "--help").stdout
    titles = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    advanced = [title.endswith(", advanced") for title in titles[:-1]]  # the last is the example
    assert advanced == sorted(advanced) and any(advanced)
    machines = [k for k, title in enumerate(titles) if title.startswith("Machine") and "advanced" not in title]
    assert machines == list(range(machines[0], machines[0] + len(machines))) and len(machines) > 3


@pytest.mark.parametrize("option", ["--hidden", "--learning-rate", "--updates", "--seed", "--threshold"])
def test_help_tells_defaults(option):
    text = succeed("train", "--help").stdout
    section = re.search(rf"^ +{option} (.*?)(?=^ +--|\n\n)", text, re.MULTILINE | re.DOTALL).group(1)
    assert re.search(r"\(.*\sto\s.*;\s+default\s+[0-9.]+", section, re.DOTALL), section  # its range, and its default


def test_the_version():
    assert re.fullmatch(r"ergodic \d+\.\d+\.\d+ \(\w+\)\n", succeed("--version").stdout)


# ---- Reference ----


def test_the_reference_has_every_command():
    text = succeed("reference").stdout
    assert re.findall(r"^### ergodic (.+)$", text, re.MULTILINE) == COMMANDS
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("|") == 5, line


def test_the_manual_contains_the_reference():
    assert succeed("reference").stdout.strip() in (ROOT / "docs/command.md").read_text()


# ---- Completion ----


def completed(*typed):
    """What bash offers after these words, the last of them unfinished."""
    script = """source ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _ergodic; printf "%s\\n" "${COMPREPLY[@]}" """
    Path("completion").write_text(succeed("completion", "bash").stdout)
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", *typed], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return set(done.stdout.split())


def test_bash_accepts_the_completion():
    script = succeed("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True).returncode == 0


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_theirs(shell):
    """Where the shell is installed it reads its script; everywhere the script names every command."""
    script = succeed("completion", shell).stdout
    assert all(command.split()[-1] in script for command in COMMANDS)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True, capture_output=True).returncode == 0


@pytest.mark.parametrize("typed, expected", [
    (("ergodic", "tr"), {"train"}),
    (("ergodic", ""), {"train", "evaluate", "sample", "score", "features", "complete", "compare", "compare-runs", "reconstruct", "recall",
                       "inspect", "classify", "data", "completion", "reference", "help"}),
    (("ergodic", "help", "ev"), {"evaluate"}),
    (("./bin/ergodic", "tr"), {"train"}),
    (("ergodic", "data", ""), {"list", "get", "show"}),
    (("ergodic", "classify", ""), {"fit", "predict", "evaluate"}),
    (("ergodic", "classify", "evaluate", "c", "--mis"), {"--mistakes", "--missing"}),
    (("ergodic", "data", "get", "m"), {"mnist", "mushrooms"}),
    (("ergodic", "train", "--learn"), {"--learning-rate"}),
    (("ergodic", "train", "--hidden", "3", "--check"), {"--checkpoint-every"}),
    (("ergodic", "train", "--method", ""), {"pcd", "population", "fpcd", "tempering", "cd", "exact", "pseudo"}),
    (("ergodic", "train", "--method", "e"), {"exact"}),
    (("ergodic", "train", "--data", "bars"), {"bars-and-stripes"}),
    (("ergodic", "evaluate", "m.safetensors", "--spl"), {"--split"}),
    (("ergodic", "evaluate", "m.safetensors", "--split", "t"), {"train", "test"}),
    (("ergodic", "data", "show", "--co"), {"--count", "--config", "--columns"}),
    (("ergodic", "completion", "f"), {"fish"}),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_bash_completes(typed, expected):
    assert completed(*typed) == expected


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_offers_every_option(command):
    expected = {option for option in options_of(command) if option.startswith("--")} | {"--help"}
    assert completed("ergodic", *command.split(), "--") == expected


def test_bash_completes_files():
    Path("machine.safetensors").touch()
    assert completed("ergodic", "evaluate", "mach") == {"machine.safetensors"}
    assert completed("ergodic", "train", "--out", "mach") == {"machine.safetensors"}


def test_no_completion_for_an_unknown_shell():
    refused(USAGE, "completion", "csh", says=("csh", "bash, zsh, fish"))


# ---- Config files ----

TRAIN = ("train", "--config", "options", "--out", "m.safetensors")


def hidden_units():
    return len(read_safetensors("m.safetensors")[0]["hidden_bias"])


def test_a_config_file_sets_options():
    Path("options").write_text("# a small run\n\ndata = bars-and-stripes:3\n  hidden=5   # units\nepochs = 2\n"
                               "quiet = true\n")
    done = succeed(*TRAIN)
    assert hidden_units() == 5 and done.stderr == ""


def test_the_command_line_goes_before_the_config_file():
    Path("options").write_text("data = bars-and-stripes:3\nhidden = 5\nepochs = 2\n")
    assert ask(*TRAIN, "--hidden", 6)["updates"] == 2
    assert hidden_units() == 6


def test_a_config_file_and_a_command_line_give_the_same_bytes():
    Path("options").write_text("data = bars-and-stripes:3\nhidden = 5\nepochs = 2\nuncentred = true\nl2 = 0.01\n")
    succeed(*TRAIN)
    first = Path("m.safetensors").read_bytes()
    succeed("train", "--data", "bars-and-stripes:3", "--hidden", 5, "--epochs", 2, "--uncentred", "--l2", 0.01, "--out",
            "m.safetensors")
    assert Path("m.safetensors").read_bytes() == first


@pytest.mark.parametrize("text, code, says", [
    ("data = bars-and-stripes:3\nhiden = 5\n", USAGE, ("hiden",)),
    ("data = bars-and-stripes:3\nhidden = many\n", USAGE, ("hidden", "'many'")),
    ("data = bars-and-stripes:3\nuncentred = maybe\n", USAGE, ("uncentred", "'maybe'")),
    ("data = bars-and-stripes:3\nhidden 5\n", BAD_DATA, ("options", "line 2", "hidden 5")),
    ("data = bars-and-stripes:3\n= 5\n", BAD_DATA, ("options", "line 2")),
    ("data = bars-and-stripes:3\n\nhidden = 5\nhidden = 6\n", BAD_DATA, ("options", "line 4", "hidden")),
    ("hidden = 5\n", USAGE, ("--data",)),
])
def test_a_config_file_that_makes_no_sense(text, code, says):
    Path("options").write_text(text)
    refused(code, *TRAIN, says=says)


def test_a_missing_config_file():
    refused(NO_INPUT, *TRAIN, says="options")


def test_an_unknown_key_names_its_file():
    """Otherwise one looks for it on the command line."""
    Path("small.config").write_text("data = bars-and-stripes:3\nhiden = 5\n")
    refused(USAGE, "train", "--config", "small.config", "--out", "m.safetensors", says=("small.config", "hiden"))
