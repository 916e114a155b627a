"""Command lines that make no sense: exit code 2, a message that names the option, and no file touched."""

from pathlib import Path

import pytest
from conftest import BAD_DATA, IO, NO_INPUT, USAGE, ask, refused, run, small_machine, succeed

TRAIN = ("train", "--data", "bars-and-stripes:3", "--out", "m.safetensors", "--log", "log", "--report",
         "report.html")


@pytest.fixture(autouse=True)
def old_files(own_folder):
    small_machine("m.safetensors")
    Path("log").write_text("an old log\n")
    Path("report.html").write_text("an old report\n")


@pytest.mark.parametrize("args, says", [
    (("nonsense",), "nonsense"),
    (("train", "more"), "more"),
    (("data",), "command"),
    (("data", "nonsense"), "nonsense"),
    (("train",), "--data"),
    (("train", "--data", "bars-and-stripes:3"), "--out"),
    (("evaluate", "--data", "bars-and-stripes:3"), "MODEL"),
    (("sample", "m.safetensors"), "--out"),
    (("data", "get"), "NAME"),
    (("inspect", "m.safetensors", "another"), "another"),
    (("completion",), "SHELL"),
    (("--nonsense",), "expected a command"),
    (("trian",), "unknown command 'trian'; did you mean train?"),
    (("data", "gte"), "did you mean get?"),
    (("help", "trian"), "did you mean train?"),
    (("train", "--data", "digits", "--out", "x", "--model", "hopfeld"), "did you mean hopfield?"),
    (("data", "get", "minst"), "did you mean mnist?"),
    (("completion", "bsh"), "did you mean bash?"),
])
def test_an_incomplete_or_unknown_command(args, says):
    refused(USAGE, *args, says=says)


@pytest.mark.parametrize("option, value", [
    ("--hidden", "-3"), ("--hidden", "2.5"), ("--hidden", "many"),
    ("--hidden", "99999999999999999999999"), ("--hidden", "1e-2"), ("--hidden", "1e99"),
    ("--learning-rate", "-0.1"), ("--learning-rate", "nan"), ("--learning-rate", "inf"),
    ("--average", "1.5"), ("--average", "-0.1"), ("--optimiser", "adagrad"), ("--l1-squared", "-1"),
    ("--sparsity", "-1"), ("--sparsity-target", "2"),
    ("--learning-rate", "0.1x"), ("--epochs", "-1"), ("--steps", "0"), ("--threshold", "2"), ("--threshold", "-0.1"),
    ("--threshold", "nan"), ("--test-share", "1.5"), ("--held-out", "1"), ("--momentum", "1"), ("--l1", "-1"),
    ("--l2", "nan"), ("--weight-scale", "-1"), ("--seed", "-1"), ("--threads", "-1"), ("--threads", "1000000"),
    ("--checkpoint-every", "-1"), ("--method", "nonsense"), ("--model", "nonsense"),
    ("--visible-type", "quantum"), ("--hidden-type", "Spin"), ("--binarise", "nonsense"), ("--schedule", "nonsense"),
])
def test_a_value_that_an_option_cannot_take(option, value):
    for written in ((option, value), (f"{option}={value}",)):
        refused(USAGE, *TRAIN, *written, says=(option, "expected", f"'{value}'"))


@pytest.mark.parametrize("model, option, value", [
    ("rbm", "--graph", "grid:3x3"), ("rbm", "--layers", "8,8"), ("rbm", "--rule", "hebb"), ("rbm", "--patterns", 3),
    ("boltzmann", "--hidden-type", "spin"), ("boltzmann", "--least-noise", 0.5), ("boltzmann", "--layers", "8"),
    ("boltzmann", "--optimiser", "adam"), ("dbn", "--l1-squared", 0.1), ("dbm", "--sparsity", 0.1),
    ("neural", "--hidden", 5), ("neural", "--momentum", 0.5), ("neural", "--l1", 0.1), ("neural", "--l2", 0.1),
    ("hopfield", "--hidden", 5), ("hopfield", "--method", "cd"), ("hopfield", "--epochs", 3),
])
def test_an_option_of_another_machine(model, option, value):
    refused(USAGE, *TRAIN, "--model", model, option, value, says=(f"{option} is for --model", model, "leave"))


@pytest.mark.parametrize("args, says", [
    (("--nonsense",), "--nonsense"),
    (("--nonsense", "3"), "--nonsense"),
    (("--hiden", "3"), "unknown option --hiden; did you mean --hidden?\n"),
    (("--zzz", "3", "--hiden"), "unknown options --zzz, --hiden; did you mean --hidden?\n"),
    (("--hidden",), "--hidden"),
    (("--hidden", ""), "--hidden"),
    (("--method=",), "--method"),
    (("--hidden", "3", "--hidden", "4"), "--hidden"),
    (("-x",), "-x"),
])
def test_an_option_that_is_not_one(args, says):
    refused(USAGE, *TRAIN, *args, says=says)


def test_whole_numbers_may_have_an_exponent():
    succeed("train", "--data", "bars-and-stripes:3", "--hidden", "1e1", "--epochs", "2e0", "--out", "m.safetensors")
    assert ask("inspect", "m.safetensors")["hidden"] == 10


def test_a_data_set_that_is_mistyped():
    refused(NO_INPUT, "train", "--data", "minst", "--out", "x", says="did you mean mnist?")
    refused(NO_INPUT, "train", "--data", "digit:300", "--out", "x", says="did you mean digits?")


def test_a_report_is_a_page():
    refused(USAGE, *TRAIN[:-1], "r.txt", says=("--report", ".html", "r.txt"))


@pytest.mark.parametrize("args, option, ending", [
    (("score", "m.safetensors", "--data", "bars-and-stripes:3", "--out", "s.csv"), "--surprise", ".npy or .csv"),
    (("score", "m.safetensors", "--data", "bars-and-stripes:3", "--out", "s.csv"), "--strangest", ".png"),
    (("sample", "m.safetensors", "--out", "s.csv"), "--energies", ".csv or .npy"),
    (("inspect", "m.safetensors"), "--filters", ".png"),
    (("inspect", "m.safetensors"), "--couplings", ".csv or .npy or .png"),
    (("compare", "m.safetensors", "--data", "bars-and-stripes:3"), "--out", ".png"),
    (("data", "show", "--data", "bars-and-stripes:3"), "--out", ".png"),
])
def test_a_file_name_with_another_ending_is_refused_by_its_own_option(args, option, ending):
    refused(USAGE, *args, option, "x.txt", says=f"{option}: expected a name ending in {ending}, found 'x.txt'")


def test_a_batch_larger_than_the_data():
    refused(USAGE, *TRAIN, "--batch", 17, says=("17", "16 rows"))


def test_exact_learning_of_a_large_machine():
    refused(USAGE, "train", "--data", "digits:100", "--method", "exact", "--hidden", 100, *TRAIN[3:], "--quiet",
            says=("exact", "100", "784"))


@pytest.mark.parametrize("args, says", [
    (("--method", "cd", "--final-steps", "20"), ("--final-steps", "cd", "pcd, population, fpcd, tempering")),
    (("--method", "exact", "--final-steps", "20"), ("--final-steps", "exact")),
    (("--steps", "10", "--final-steps", "9"), ("--final-steps", "10", "9")),
    (("--levels", "5"), ("--levels", "tempering", "pcd")),
    (("--method", "tempering", "--levels", "1"), ("--levels", "'1'")),
    (("--method", "tempering", "--visible-type", "gaussian"), ("tempering", "real units", "pcd or population")),
])
def test_effort_that_a_method_does_not_take(args, says):
    refused(USAGE, *TRAIN, *args, says=says)


@pytest.mark.parametrize("args, says", [
    (("--optimiser", "adam", "--momentum", 0.5), ("--momentum", "sgd")),
    (("--optimiser", "spectral", "--momentum", 0.5), ("--momentum", "sgd")),
    (("--sparsity-target", 0.2), ("--sparsity-target", "--sparsity too")),
    (("--sparsity", 0.2, "--hidden-type", "relu"), ("--sparsity", "bernoulli or spin")),
])
def test_options_of_the_step_that_do_not_go_together(args, says):
    refused(USAGE, *TRAIN, *args, says=says)


def test_a_split_that_is_none():
    refused(USAGE, "evaluate", "m.safetensors", "--data", "bars-and-stripes:3", "--split", "validation",
            says=("--split", "auto, train, test", "'validation'"))


def test_a_trajectory_that_cannot_be_kept():
    refused(IO, *TRAIN, "--trajectory", "log", says="cannot make this folder")


def test_too_many_samples():
    refused(USAGE, "sample", "m.safetensors", "--count", 10**9, "--out", "x.npy", says=("--count", "1000000000"))


def test_a_machine_that_diverges_says_so():
    """With an absurd learning rate; what was there before stays."""
    before = Path("m.safetensors").read_bytes()
    done = run(*TRAIN, "--hidden", 8, "--learning-rate", 1000, "--l2", 1000, "--schedule", "constant", "--epochs", 100)
    assert done.returncode == BAD_DATA and done.stdout == ""
    assert "diverged" in done.stderr and "learning rate" in done.stderr
    assert Path("m.safetensors").read_bytes() == before
