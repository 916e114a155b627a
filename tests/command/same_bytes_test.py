"""Same data, options and seed give the same bytes: for any number of threads, and through any interruption."""

import json
import re
import signal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, USAGE, refused, stop_after, stop_when, succeed, unfinished

BARS = ("--data", "bars-and-stripes:4", "--hidden", "12", "--batch", "10", "--momentum", "0.5", "--l2", "0.001",
        "--learning-rate", "0.05")
RUNS = {
    "pcd": (*BARS, "--method", "pcd", "--steps", "200", "--epochs", "15"),
    "cd": (*BARS, "--method", "cd", "--steps", "200", "--epochs", "15"),
    "population": (*BARS, "--method", "population", "--steps", "200", "--epochs", "15"),
    "fpcd": (*BARS, "--method", "fpcd", "--steps", "200", "--epochs", "15"),
    "tempering": (*BARS, "--method", "tempering", "--levels", "4", "--steps", "40", "--epochs", "15"),
    "more and more sweeps": (*BARS, "--steps", "50", "--final-steps", "400", "--epochs", "15"),
    "exact": (*BARS, "--method", "exact", "--epochs", "15"),
    "boltzmann": (*BARS, "--model", "boltzmann", "--graph", "torus:4x7", "--steps", "200", "--epochs", "15"),
    "pseudo": (*BARS[:2], *BARS[4:], "--model", "boltzmann", "--method", "pseudo", "--epochs", "30"),
    "deep": ("--model", "dbm", "--data", "bars-and-stripes:4", "--hidden", "12,8", "--batch", "10", "--steps", "100",
             "--epochs", "15"),
    "deeper": ("--model", "dbm", "--data", "bars-and-stripes:4", "--hidden", "12,8,6", "--batch", "10", "--steps", "100",
               "--epochs", "15"),
    # Three stages of 12 checkpoints each, and then all layers together.
    "dbm, layer by layer": (*BARS[:2], *BARS[4:], "--model", "dbm", "--hidden", "12,8,6", "--steps", "200", "--updates",
                            "60", "--layer-updates", "36"),
    "mean field": (*BARS[:2], *BARS[4:], "--model", "dbm", "--hidden", "12,8", "--steps", "200", "--updates", "60",
                   "--data-side", "mean-field", "--layer-updates", "20"),
    "dynamic": ("--data", "digits:100", "--hidden", "12", "--batch", "20", "--steps", "10", "--binarise", "dynamic",
                "--epochs", "6"),
    # Three stages and then all layers together, 15 checkpoints each.
    "dbn": (*BARS[:2], *BARS[4:], "--model", "dbn", "--hidden", "12,10,8", "--steps", "200", "--updates", "60",
            "--up-down-updates", "15"),
    "dbn by fpcd": (*BARS[:2], *BARS[4:], "--model", "dbn", "--hidden", "12,10,8", "--steps", "200", "--updates", "60",
                    "--up-down-updates", "15", "--method", "fpcd"),
    "dbm by tempering": (*BARS[:2], *BARS[4:], "--model", "dbm", "--hidden", "12,8,6", "--steps", "50", "--updates", "60",
                         "--layer-updates", "36", "--method", "tempering", "--levels", "4"),
    "discriminative": ("--model", "class-rbm", "--data", "digits:200", "--hidden", "12", "--batch", "10", "--momentum",
                       "0.5", "--l2", "0.001", "--objective", "discriminative", "--binarise", "dynamic", "--epochs", "30"),
    # Learns by heart, so that the best state is an early one.
    "best": ("--data", "digits:40", "--held-out", "0.5", "--hidden", "12", "--batch", "10", "--learning-rate", "0.3",
             "--steps", "100", "--epochs", "30", "--keep", "best", "--patience", "20"),
    "best or average": ("--data", "digits:40", "--held-out", "0.5", "--hidden", "12", "--batch", "10", "--steps", "50",
                        "--epochs", "30", "--method", "tempering", "--levels", "3", "--keep", "best", "--average", "0.5"),
    "averaged": (*BARS, "--steps", "200", "--epochs", "15", "--average", "0.5", "--rescue"),
    "averaged dbn": (*BARS[:2], *BARS[4:], "--model", "dbn", "--hidden", "12,10", "--steps", "200", "--updates", "60",
                     "--average", "0.7"),
    "adam": (*BARS[:6], "--l2", "0.001", "--steps", "200", "--epochs", "15", "--optimiser", "adam", "--average", "0.5"),
    "spectral": (*BARS[:6], "--steps", "200", "--epochs", "15", "--optimiser", "spectral"),
    "penalties": (*BARS, "--steps", "200", "--epochs", "15", "--l1-squared", "0.01", "--sparsity", "0.1",
                  "--sparsity-target", "0.2"),
    "hybrid": ("--model", "class-rbm", "--data", "digits:100", "--hidden", "12", "--batch", "20", "--momentum", "0.5",
               "--l2", "0.001", "--objective", "hybrid", "--steps", "10", "--epochs", "10"),
}


def train(kind, *args):
    succeed("train", *RUNS[kind], "--out", "m.safetensors", "--log", "log", "--quiet", *args)
    return Path("m.safetensors").read_bytes()


def log_rows():
    """The rows of the log without their time."""
    rows = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert all(row.pop("seconds") >= 0 for row in rows)
    return rows


@cache
def uninterrupted(kind):
    """The machine and the log of a run that nothing disturbed; nothing of it stays in the folder."""
    model, rows = train(kind), log_rows()
    Path("m.safetensors").unlink()
    Path("log").unlink()
    return model, rows


def interrupt(kind, checkpoints, how, *args):
    return stop_after(checkpoints, how, "train", *RUNS[kind], "--out", "m.safetensors", "--log", "log", *args)


@pytest.mark.parametrize("kind", RUNS)
def test_any_number_of_threads_gives_the_same_bytes(kind):
    one = train(kind, "--threads", 1)
    assert train(kind, "--threads", 2) == one
    assert train(kind, "--threads", 3) == one


def instruction_sets(monkeypatch):
    """Those of this CPU, as the command names them."""
    monkeypatch.setenv("ERGODIC_TARGET", "abacus")
    message = refused(USAGE, "--version")
    monkeypatch.delenv("ERGODIC_TARGET")
    assert "abacus" in message
    return re.search("there are (.*)", message).group(1).split(", ")


WIDE = ("--data", "digits:300", "--hidden", "70", "--batch", "40", "--epochs", "2", "--learning-rate", "0.3")
TARGET_RUNS = {
    "binary": WIDE,
    "spins": (*WIDE, "--visible-type", "spin", "--hidden-type", "spin"),
    "mixed, momentum, decay": (*WIDE, "--hidden-type", "spin", "--momentum", "0.5", "--l2", "0.001", "--l1", "0.0001"),
    "cd, batches of another size than the chains": (*WIDE, "--method", "cd", "--steps", "3"),
    "more chains than rows": (*WIDE, "--chains", "130"),
    "fpcd": (*WIDE, "--method", "fpcd", "--momentum", "0.5"),
    "tempering": (*WIDE, "--method", "tempering", "--levels", "3"),
    "deep": (*WIDE[:2], *WIDE[4:], "--model", "dbn", "--hidden", "70,40,50", "--up-down-updates", "4"),
    "dbm": (*WIDE[:2], *WIDE[4:], "--model", "dbm", "--hidden", "70,40", "--layer-updates", "6", "--binarise", "dynamic"),
    "mean field": (*WIDE[:2], *WIDE[4:], "--model", "dbm", "--hidden", "70,40", "--data-side", "mean-field"),
    "hybrid": (*WIDE, "--model", "class-rbm", "--objective", "hybrid", "--binarise", "dynamic"),
    "real visible units": (*WIDE, "--visible-type", "gaussian", "--momentum", "0.5"),
    "real hidden units": (*WIDE, "--hidden-type", "relu", "--method", "cd"),
    "penalties": (*WIDE, "--hidden-type", "spin", "--l1-squared", "0.01", "--sparsity", "0.1"),
    "adam": (*WIDE[:-2], "--optimiser", "adam", "--average", "0.5"),
    "spectral": (*WIDE[:-2], "--optimiser", "spectral"),
    "spectral, real visible units": (*WIDE[:-2], "--optimiser", "spectral", "--visible-type", "gaussian"),
    "neural": ("--model", "neural", "--data", "eight-gaussians:500", "--epochs", "10"),
}


@pytest.mark.parametrize("kind", TARGET_RUNS)
def test_every_instruction_set_gives_the_same_bytes(kind, monkeypatch):
    names = instruction_sets(monkeypatch)
    assert len(names) >= 2 and names[-1] == "plain"
    models = set()
    for name in names:
        monkeypatch.setenv("ERGODIC_TARGET", name)
        assert f"({name})" in succeed("--version").stdout
        succeed("train", *TARGET_RUNS[kind], "--out", "m.safetensors", "--quiet")
        models.add(Path("m.safetensors").read_bytes())
        succeed("sample", "m.safetensors", "--count", "20", "--sweeps", "30", "--out", "samples.npy", "--quiet")
        models.add(Path("samples.npy").read_bytes())
    assert len(models) == 2


@pytest.mark.parametrize("checkpoints", [1, 2, 7, 19, 37])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(checkpoints):
    model, rows = uninterrupted("pcd")
    code, out, _ = interrupt("pcd", checkpoints, signal.SIGKILL)
    assert code == -signal.SIGKILL and out == ""
    assert Path("m.safetensors.checkpoint").exists() and not Path("m.safetensors").exists()
    assert train("pcd", "--resume") == model
    assert log_rows() == rows
    assert not Path("m.safetensors.checkpoint").exists()


@pytest.mark.parametrize("kind", ["dbn", "dbm, layer by layer"])
@pytest.mark.parametrize("checkpoints", [7, 15, 22, 31, 36, 46, 55])
def test_a_deep_machine_killed_in_any_stage_goes_on_as_if_nothing_had_happened(kind, checkpoints):
    model, rows = uninterrupted(kind)
    code, _, err = interrupt(kind, checkpoints, signal.SIGKILL)
    assert code == -signal.SIGKILL, err
    assert train(kind, "--resume", "--threads", 2) == model
    assert log_rows() == rows


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_killed_again_and_again_ends_with_the_same_bytes(kind):
    model, rows = uninterrupted(kind)
    for checkpoints in (3, 1, 5):
        code, _, err = interrupt(kind, checkpoints, signal.SIGKILL, "--resume")
        assert code == -signal.SIGKILL, err
    assert train(kind, "--resume", "--threads", 3) == model
    assert log_rows() == rows


def test_a_torn_line_in_the_log_is_mended():
    model, rows = uninterrupted("pcd")
    interrupt("pcd", 9, signal.SIGKILL)
    with Path("log").open("a") as log:
        log.write('{"update": 12, "epo')
    assert train("pcd", "--resume") == model
    assert log_rows() == rows


@pytest.mark.parametrize("how, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_a_checkpoint_first(how, code):
    model, rows = uninterrupted("pcd")
    found, out, err = interrupt("pcd", 3, how, "--json")
    assert found == code, err
    answer = json.loads(out)
    assert answer["model"] is None and answer["stopped"] is True
    assert answer["checkpoint"] == "m.safetensors.checkpoint" and Path(answer["checkpoint"]).exists()
    assert 3 <= answer["updates"] < 60
    assert "--resume" in err
    assert not Path("m.safetensors").exists()
    assert train("pcd", "--resume") == model
    assert log_rows() == rows


def test_a_signal_saves_even_if_no_checkpoint_is_due():
    model, rows = uninterrupted("pcd")
    options = ("train", *RUNS["pcd"], "--out", "m.safetensors", "--log", "log", "--checkpoint-every", "3600")
    under_way = lambda: Path("log").exists() and Path("log").read_text().count("\n") > 2
    code, _, err = stop_when(under_way, signal.SIGINT, *options)
    assert code == 130, err
    succeed(*options, "--resume")
    assert Path("m.safetensors").read_bytes() == model and log_rows() == rows


def test_a_report_after_resuming_shows_the_whole_run():
    unfinished("train", *RUNS["pcd"], "--out", "m.safetensors")
    succeed("train", *RUNS["pcd"], "--out", "m.safetensors", "--resume", "--report", "report.html")
    resumed = Path("report.html").read_text().count("<circle")
    succeed("train", *RUNS["pcd"], "--out", "m.safetensors", "--report", "report.html")
    assert resumed == Path("report.html").read_text().count("<circle") > 0


@pytest.mark.parametrize("option, old, new", [("--hidden", "12", "13"), ("--learning-rate", "0.05", "0.07"),
                                              ("--seed", "1", "2"), ("--epochs", "15", "16"), ("--method", "pcd", "cd"),
                                              ("--schedule", "linear", "cosine")])
def test_a_checkpoint_of_other_options_is_refused(option, old, new):
    unfinished("train", *RUNS["pcd"], "--out", "m.safetensors")
    changed = list(RUNS["pcd"])
    if option in changed:
        changed[changed.index(option) + 1] = new
    else:
        changed += [option, new]
    message = refused(USAGE, "train", *changed, "--out", "m.safetensors", "--resume",
                      says=("m.safetensors.checkpoint", option[2:]))
    line = next(line for line in message.splitlines() if option[2:] in line and new in line)
    assert old in line


def test_a_checkpoint_of_other_data_is_refused():
    options = ("train", "--data", "data.npy", "--hidden", "12", "--steps", "300", "--epochs", "60", "--out", "m.st")
    np.save("data.npy", np.eye(40, dtype=np.uint8))
    unfinished(*options)
    np.save("data.npy", np.eye(40, dtype=np.uint8)[::-1])
    refused(USAGE, *options, "--resume", says="data")


def test_an_unfinished_run_is_not_overwritten():
    unfinished("train", *RUNS["pcd"], "--out", "m.safetensors")
    refused(USAGE, "train", *RUNS["pcd"], "--out", "m.safetensors", says=("m.safetensors.checkpoint", "--resume"))


def test_resume_without_a_checkpoint_starts():
    assert train("pcd", "--resume") == uninterrupted("pcd")[0]


def test_resume_of_a_finished_run_leaves_it_alone():
    train("exact")
    refused(USAGE, "train", *RUNS["exact"], "--out", "m.safetensors", "--resume", says=("finished", "m.safetensors"))


def test_a_finished_run_leaves_only_its_results():
    train("pcd", "--checkpoint-every", 0)
    assert sorted(p.name for p in Path().iterdir()) == ["log", "m.safetensors"]


def test_where_and_how_often_to_save_shapes_nothing():
    assert train("pcd", "--checkpoint-every", 0) == train("pcd", "--report", "r.html", "--threads", 1)


def test_damage_to_a_checkpoint_is_found():
    whole = unfinished("train", *RUNS["pcd"], "--out", "m.safetensors")
    checkpoint = Path("m.safetensors.checkpoint")
    resume = ("train", *RUNS["pcd"], "--out", "m.safetensors", "--resume")
    for length in [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 8, len(whole) - 1]:
        checkpoint.write_bytes(whole[:length])
        refused(BAD_DATA, *resume, says="m.safetensors.checkpoint")
    for bit in range(0, 8 * len(whole), 8 * len(whole) // 60 + 1):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        checkpoint.write_bytes(damaged)
        refused(BAD_DATA, *resume, says="m.safetensors.checkpoint")
