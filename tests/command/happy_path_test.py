"""The first afternoon with the command: train, evaluate, sample, reconstruct, inspect, look at data."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ask, png_size, run, small_machine, succeed

ESTIMATE = {"value", "lower", "upper", "standard_error", "method"}
DIGITS = ("--data", "digits:500")


@pytest.fixture
def digits():
    """A machine of ten hidden units on procedural digits."""
    succeed("train", *DIGITS, "--hidden", 10, "--epochs", 2, "--out", "digits.safetensors", "--quiet")
    return Path("digits.safetensors")


def test_train_answers_and_writes_the_machine():
    answer = ask("train", *DIGITS, "--hidden", 10, "--epochs", 3, "--out", "m.safetensors")
    assert set(answer) == {"model", "stopped", "updates", "epochs", "seconds", "samples_per_second", "monitors",
                           "independent_log_likelihood", "still_improving", "mixing"}
    assert answer["model"] == "m.safetensors" and answer["stopped"] is False
    assert answer["updates"] == 15 and answer["epochs"] == 3  # 490 rows, 100 a batch; ten are held out
    assert answer["seconds"] > 0 and answer["samples_per_second"] > 0
    assert {"free_energy_gap", "reconstruction_error", "pseudo_log_likelihood", "log_likelihood", "weight_norm",
            "dead", "saturated"} <= set(answer["monitors"])
    assert [p.name for p in Path().iterdir()] == ["m.safetensors"]


def test_a_profile_accounts_for_the_time_and_changes_nothing_else():
    line = ("train", *DIGITS, "--hidden", 40, "--epochs", 3, "--threads", 1)
    succeed(*line, "--out", "m.safetensors", "--quiet")
    answer = ask(*line, "--out", "p.safetensors", "--profile")
    assert Path("m.safetensors").read_bytes() == Path("p.safetensors").read_bytes()
    stages = answer["profile"]
    assert sum(stage["share"] for stage in stages.values()) == pytest.approx(1)
    assert 0 < sum(stage["seconds"] for stage in stages.values()) <= answer["seconds"]
    assert {name for name, stage in stages.items() if stage["macs_per_cycle"] > 0} == {"product", "count"}
    table = succeed(*line, "--out", "q.safetensors", "--profile").stderr
    assert all(re.search(rf"^{name} +[0-9.]+ +[0-9.]+%", table, re.M) for name in stages)


def test_training_learns_digits():
    answer = ask("train", *DIGITS, "--hidden", 10, "--epochs", 20, "--learning-rate", 0.5, "--out", "m.safetensors",
                 "--log", "log")
    first = json.loads(Path("log").read_text().splitlines()[0])
    assert answer["monitors"]["reconstruction_error"] < 0.9 * first["reconstruction_error"]
    assert answer["monitors"]["log_likelihood"] > first["log_likelihood"] + 5


def test_evaluate_gives_exact_brackets(digits):
    answer = ask("evaluate", digits, *DIGITS)
    assert set(answer) == {"rows", "log_likelihood", "independent_log_likelihood", "log_z", "free_energy",
                           "row_standard_error", "pseudo_log_likelihood"}
    assert answer["rows"] == 50  # the test part
    for name in ("log_likelihood", "log_z"):
        estimate = answer[name]
        assert set(estimate) == ESTIMATE
        assert estimate["value"] == estimate["lower"] == estimate["upper"]
        assert estimate["standard_error"] == 0 and estimate["method"] == "exact"
    assert np.isclose(answer["log_likelihood"]["value"], -answer["free_energy"] - answer["log_z"]["value"], rtol=1e-12)
    assert set(answer["pseudo_log_likelihood"]) == {"value", "standard_error"}
    assert answer["pseudo_log_likelihood"]["standard_error"] > 0


@pytest.mark.parametrize("split, rows", [("train", 500), ("test", 50), ("auto", 50)])
def test_evaluate_takes_the_part_that_is_asked_for(digits, split, rows):
    assert ask("evaluate", digits, *DIGITS, "--split", split)["rows"] == rows


@pytest.mark.parametrize("command", ["sample", "reconstruct"])
def test_pictures_are_whole_png_files(digits, command):
    data = DIGITS if command == "reconstruct" else ("--sweeps", 5)
    answer = ask(command, digits, *data, "--count", 20, "--out", "sheet.png")
    assert answer["out"] == "sheet.png" and answer["count"] == 20
    width, height = png_size("sheet.png")
    tiles = 20 if command == "sample" else 40
    assert tiles * 28 * 28 <= width * height <= 8 * tiles * 28 * 28 and 28 <= min(width, height)


def test_samples_are_an_array_that_is_data_again(digits):
    answer = ask("sample", digits, "--count", 30, "--sweeps", 7, "--out", "samples.npy")
    assert set(answer) == {"out", "count", "sweeps", "seconds", "stopped", "mixing"}
    assert answer["sweeps"] == 7 and answer["stopped"] is False
    samples = np.load("samples.npy")
    assert samples.shape == (30, 784) and set(np.unique(samples)) == {0.0, 1.0}
    assert ask("evaluate", digits, "--data", "samples.npy")["rows"] == 30
    assert np.isclose(ask("data", "show", "--data", "samples.npy")["mean"], samples.mean())


def test_samples_are_a_function_of_the_seed(digits):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        succeed("sample", digits, "--count", 5, "--sweeps", 3, "--seed", seed, "--out", f"{name}.npy")
    a, b, c = (np.load(f"{name}.npy") for name in "abc")
    assert (a == b).all() and (a != c).any()


def test_means_lie_between_the_levels(digits):
    succeed("sample", digits, "--count", 4, "--sweeps", 2, "--means", "--out", "means.npy")
    means = np.load("means.npy")
    assert ((0 < means) & (means < 1)).all()


@pytest.mark.parametrize("units, values", [("bernoulli", {0.0, 1.0}), ("spin", {-1.0, 1.0})])
def test_samples_have_the_values_of_their_units(units, values):
    small_machine("m.safetensors", "--visible-type", units)
    succeed("sample", "m.safetensors", "--count", 50, "--sweeps", 2, "--out", "samples.npy")
    assert set(np.unique(np.load("samples.npy"))) == values


def test_reconstructions_are_an_array_of_expected_values(digits):
    answer = ask("reconstruct", digits, *DIGITS, "--count", 12, "--out", "r.npy")
    assert set(answer) == {"out", "count", "reconstruction_error"}
    values = np.load("r.npy")
    assert values.shape == (12, 784) and values.min() >= 0 and values.max() <= 1
    assert 0 < answer["reconstruction_error"] < 0.5


def test_inspect_tells_what_is_inside(digits):
    answer = ask("inspect", digits, "--filters", "filters.png")
    assert set(answer) == {"model", "visible", "visible_type", "hidden", "hidden_type", "parameters", "digest",
                           "ranges", "notes"}
    assert (answer["model"], answer["visible"], answer["hidden"]) == ("rbm", 784, 10)
    assert answer["visible_type"] == answer["hidden_type"] == "bernoulli"
    assert answer["parameters"] == 784 * 10 + 784 + 10
    assert answer["digest"] == "agrees"
    for part in ("weights", "visible_bias", "hidden_bias"):
        spread = answer["ranges"][part]
        assert spread["smallest"] < spread["largest"] and spread["root_mean_square"] > 0
    assert answer["notes"]["picture"] == "28x28" and answer["notes"]["updates"] == "10"
    assert json.loads(answer["notes"]["training"])["hidden"] == "10"
    width, height = png_size("filters.png")
    assert width * height >= 10 * 28 * 28


def test_data_list_names_every_set():
    sets = {entry["name"]: entry for entry in ask("data", "list")["sets"]}
    assert {"digits:N", "bars-and-stripes:N", "shifting-bars:N", "mnist", "fashion-mnist", "pf00071"} <= set(sets)
    assert all(set(entry) == {"name", "description", "here"} for entry in sets.values())
    assert sets["digits:N"]["here"] and not sets["mnist"]["here"]
    assert "ergodic data get mnist" in succeed("data", "list").stdout


def test_data_show_describes_and_draws():
    answer = ask("data", "show", *DIGITS, "--out", "rows.png")
    assert set(answer) == {"name", "rows", "units", "height", "width", "mean", "labels", "bytes", "sites",
                           "letters", "effective_rows", "missing", "names", "classes"}
    assert (answer["rows"], answer["units"], answer["height"], answer["width"]) == (500, 784, 28, 28)
    assert len(answer["labels"]) == 10 and sum(answer["labels"]) == 500
    assert 0.05 < answer["mean"] < 0.4
    width, height = png_size("rows.png")
    assert width * height >= 100 * 28 * 28


def test_the_report_is_one_page_by_itself():
    succeed("train", *DIGITS, "--hidden", 10, "--epochs", 2, "--out", "m.safetensors", "--report", "report.html")
    page = Path("report.html").read_text()
    assert page.lower().startswith("<!doctype html>") and "<svg" in page and "data:image/png;base64," in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", page, re.IGNORECASE)
    assert not re.search(r"@import|url\(\s*[\"']?(?:https?:)?//", page, re.IGNORECASE)


def test_the_report_tells_the_result_first_and_in_words():
    succeed("train", *DIGITS, "--hidden", 10, "--epochs", 2, "--out", "m.safetensors", "--report", "report.html")
    page = Path("report.html").read_text()
    order = ["<h1>Restricted Boltzmann machine trained on digits:500</h1>", "Log-likelihood", "Mixing",
             "<h2>Options of training</h2>", "--learning-rate", "<h2>Mixing of the chains</h2>",
             "<h3>Free-energy gap</h3>", "grows when the machine over-fits", "<h2>Pictures</h2>"]
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "saturated" not in page and "free_energy_gap" not in page  # zero all along; in words


def test_a_picture_is_magnified(digits):
    sizes = []
    for times in (1, 3):
        succeed("sample", digits, "--sweeps", 2, "--count", 4, "--scale", times, "--out", "s.png")
        sizes.append(np.array(png_size("s.png")))
    assert (sizes[1] == 3 * sizes[0]).all()


def test_log_rows_are_json_with_growing_updates():
    succeed("train", *DIGITS, "--hidden", 10, "--epochs", 3, "--out", "m.safetensors", "--log", "log.jsonl")
    rows = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    assert [row["update"] for row in rows] == [0, 5, 10, 15]
    assert [row["epoch"] for row in rows] == [0, 1, 2, 3]
    assert all(a["seconds"] <= b["seconds"] for a, b in zip(rows, rows[1:]))
    assert all("reconstruction_error" in row for row in rows)


def test_without_json_results_go_to_stdout_and_news_to_stderr(digits):
    evaluated = succeed("evaluate", digits, *DIGITS)
    assert re.search(r"log-likelihood +-\d+\.\d+", evaluated.stdout) and "log Z" in evaluated.stdout
    assert "784 bernoulli" in succeed("inspect", digits).stdout
    assert "500 rows of 784 units (28x28)" in succeed("data", "show", *DIGITS).stdout
    for args in (("train", *DIGITS, "--hidden", 4, "--epochs", 1, "--out", "m.safetensors"),
                 ("sample", digits, "--sweeps", 2, "--out", "s.png"),
                 ("reconstruct", digits, *DIGITS, "--out", "r.png")):
        done = succeed(*args)
        assert done.stdout == "" and args[-1] in done.stderr


def test_quiet_prints_nothing(digits):
    for args in (("train", *DIGITS, "--hidden", 4, "--epochs", 1, "--out", "m.safetensors"),
                 ("sample", digits, "--sweeps", 2, "--out", "s.png"),
                 ("reconstruct", digits, *DIGITS, "--out", "r.png")):
        done = succeed(*args, "--quiet")
        assert (done.stdout, done.stderr) == ("", "")


def test_a_finished_machine_may_be_trained_anew():
    first = small_machine().read_bytes()
    assert small_machine("model.safetensors", "--seed", "2").read_bytes() != first
    assert run("train", "--data", "bars-and-stripes:3", "--hidden", 4, "--epochs", 2, "--out",
               "model.safetensors").returncode == 0
    assert Path("model.safetensors").read_bytes() == first
