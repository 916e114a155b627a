"""`train --time`: a time becomes a number of updates, once."""

import signal
from pathlib import Path

import pytest
from conftest import USAGE, read_safetensors, refused, stop_after, stop_when, succeed

BARS = ("train", "--data", "bars-and-stripes:4", "--hidden", "12", "--no-likelihood", "--out", "m.safetensors")


def updates_said(err):
    (line,) = [line for line in err.splitlines() if "updates here" in line]
    return int(line.split(" are about ")[1].split()[0])


def test_a_time_is_a_number_of_updates():
    """The same bytes as with --updates; the wall clock of a busy machine is no test."""
    done = succeed(*BARS, "--time", "0.5")
    updates = updates_said(done.stderr)
    assert "0.5 s are about" in done.stderr and f"trained: {updates} updates" in done.stderr
    timed, notes = read_safetensors("m.safetensors")
    succeed(*BARS, "--updates", updates)
    plain = read_safetensors("m.safetensors")[0]
    assert all((timed[name] == plain[name]).all() for name in plain)
    assert f'"updates":"{updates}"' in notes["training"] and '"time":"0.5"' in notes["training"]


@pytest.mark.parametrize("kind", [
    ("--data", "digits:300", "--model", "class-rbm", "--hidden", "12"),
    ("--data", "bars-and-stripes:4", "--model", "boltzmann"),
    ("--data", "eight-gaussians:500", "--model", "neural"),
    ("--data", "bars-and-stripes:4", "--model", "dbn", "--hidden", "12,8"),
    ("--data", "bars-and-stripes:4", "--model", "dbm", "--hidden", "12,8"),
], ids=lambda kind: kind[3])
def test_every_kind_of_machine_can_be_timed(kind):
    done = succeed("train", *kind, "--time", "0.3s", "--no-likelihood", "--out", "m.safetensors")
    assert updates_said(done.stderr) >= 1


def test_a_resumed_run_does_not_try_again():
    line = (*BARS, "--time", "1s", "--steps", "20")
    code, _, err = stop_after(3, signal.SIGKILL, *line)
    assert code == -signal.SIGKILL, err
    done = succeed(*line, "--resume")
    assert "updates here" not in done.stderr
    resumed = read_safetensors("m.safetensors")[0]
    updates = int(done.stderr.split("trained: ")[1].split()[0])
    succeed(*BARS, "--steps", "20", "--updates", updates)
    plain = read_safetensors("m.safetensors")[0]
    assert all((resumed[name] == plain[name]).all() for name in plain)


def test_a_run_is_resumed_with_the_time_that_it_had():
    line = (*BARS, "--steps", "20")
    stop_after(3, signal.SIGINT, *line, "--time", "1s")
    refused(USAGE, *line, "--time", "2s", "--resume", says="time: the checkpoint has 1s, this run 2s")


def test_a_signal_during_the_trial_leaves_nothing():
    under_way = lambda: Path("m.safetensors.lock").exists()
    code, out, err = stop_when(under_way, signal.SIGINT, *BARS, "--time", "10h")  # a trial of three seconds
    assert code == 130 and out == "" and "nothing written" in err
    assert list(Path(".").iterdir()) == []


@pytest.mark.parametrize("text", ["", "5x", "-3s", "0", "nan", "1m1h", "10 s", "1e99"])
def test_a_time_that_is_none_is_refused(text):
    refused(USAGE, *BARS, f"--time={text}", says=("--time", "1h30m", f"'{text}'"))


@pytest.mark.parametrize("other", ["--updates", "--epochs"])
def test_a_time_and_a_number_of_updates_are_too_much(other):
    refused(USAGE, *BARS, "--time", "1s", other, 5, says=("--time, --updates and --epochs", "one of them"))


@pytest.mark.parametrize("line", ["--model dbn --hidden 12,8 --up-down-updates 5",
                                  "--model dbm --hidden 12,8 --layer-updates 5"])
def test_stages_with_updates_of_their_own_need_the_number_of_all(line):
    option = line.split()[-2]
    refused(USAGE, *BARS[:3], *line.split(), "--time", "1s", "--out", "m.safetensors",
            says=(option, "give --updates instead"))
