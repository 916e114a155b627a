"""`train --recipe`: values of other options, beneath what is given."""

import json
import re
import signal
from pathlib import Path

import pytest
from conftest import USAGE, ask, read_safetensors, refused, stop_after, succeed

BARS = ("--data", "bars-and-stripes:3", "--hidden", 4, "--no-likelihood", "--out", "m.safetensors")


def settings_after(*args):
    succeed("train", *BARS, *args, "--quiet")
    return json.loads(read_safetensors("m.safetensors")[1]["training"])


def best_values():
    """What the help says that the recipe sets."""
    reference = json.loads(succeed("reference", "--json").stdout)
    (train,) = [command for command in reference["commands"] if command["name"] == "train"]
    (recipe,) = [option for option in train["kinds"]["rbm"]["options"] if option["name"] == "recipe"]
    (best,) = [choice for choice in recipe["choices"] if choice["name"] == "best"]
    return dict(re.findall(r"--([a-z-]+) ([^ ,]+)", best["help"]))


def test_the_default_sets_nothing():
    assert settings_after("--updates", 20, "--recipe", "default") == settings_after("--updates", 20)
    plain = Path("m.safetensors").read_bytes()
    succeed("train", *BARS, "--updates", 20, "--recipe", "default", "--quiet")
    assert Path("m.safetensors").read_bytes() == plain


def test_quick_takes_a_tenth_of_the_updates():
    whole, quick = settings_after("--method", "exact"), settings_after("--method", "exact", "--recipe", "quick")
    assert int(quick.pop("updates")) == int(whole.pop("updates")) / 10
    assert quick == whole


@pytest.mark.parametrize("model", ["boltzmann", "neural", "class-rbm", "dbn", "dbm"])
def test_quick_is_for_every_machine(model):
    data = {"neural": "eight-gaussians:300", "class-rbm": "digits:50"}.get(model, "bars-and-stripes:3")
    hidden = {"dbn": ("--hidden", "4,3"), "dbm": ("--hidden", "4,3"), "class-rbm": ("--hidden", 4)}.get(model, ())
    succeed("train", "--model", model, "--data", data, *hidden, "--no-likelihood", "--recipe", "quick", "--out", "q", "--quiet")
    settings = json.loads(read_safetensors("q")[1]["training"])
    assert int(settings["updates"]) <= 6000  # of a deep belief network of three layers; of others fewer


def test_best_sets_what_its_help_says():
    values = best_values()
    assert "updates" in values
    found = settings_after("--recipe", "best", "--epochs", 2)
    for name, value in values.items():
        if name != "updates":
            assert found[name] == value
    assert found["updates"] == "2"  # a length that is given in another way stands for all


def test_what_is_given_comes_first_then_the_config_then_the_recipe():
    recipe = best_values()
    Path("c.txt").write_text("recipe = best\nsteps = 3\nchains = 7\nupdates = 40\n")
    found = settings_after("--config", "c.txt", "--chains", 9)
    assert (found["chains"], found["steps"], found["updates"]) == ("9", "3", "40")
    Path("c.txt").write_text("updates = 40\n")
    found = settings_after("--config", "c.txt", "--recipe", "best")
    assert (found["updates"], found["chains"], found["steps"]) == ("40", recipe["chains"], recipe["steps"])
    found = settings_after("--updates", 30, "--recipe", "best", "--chains", "auto")
    assert found["chains"] == "100"


def test_a_recipe_is_the_values_that_it_sets():
    values = [word for name, value in best_values().items() if name != "updates" for word in (f"--{name}", value)]
    succeed("train", *BARS, "--updates", 20, "--recipe", "best", "--quiet")
    by_recipe = Path("m.safetensors").read_bytes()
    succeed("train", *BARS, "--updates", 20, *values, "--quiet")
    assert Path("m.safetensors").read_bytes() == by_recipe


def test_a_run_goes_on_by_the_same_values_only():
    line = ("train", *BARS, "--steps", 100, "--epochs", 300, "--quiet")
    code, _, err = stop_after(2, signal.SIGINT, *line, "--recipe", "best")
    assert code == 130, err
    refused(USAGE, *line, "--resume", says="chains: the checkpoint has 500")
    succeed(*line, "--resume", "--chains", best_values()["chains"])


def test_a_recipe_with_a_time_leaves_the_length_to_it():
    assert ask("train", *BARS, "--recipe", "best", "--time", "0.2s")["updates"] < 100000


def test_recipes_that_there_are_not_are_refused():
    refused(USAGE, "train", *BARS, "--recipe", "fast", says=("--recipe", "quick, default, best"))
    refused(USAGE, "train", "--model", "boltzmann", "--data", "bars-and-stripes:3", "--out", "b", "--recipe", "best",
            says=("--recipe", "quick, default"))
    refused(USAGE, "train", *BARS, "--visible-type", "gaussian", "--recipe", "best", says=("--recipe best", "leave it out"))
