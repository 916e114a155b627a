"""`ergodic compare-runs`: runs of training by their logs, results, model files and checkpoints."""

import json
import signal
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import BAD_DATA, NO_INPUT, USAGE, ask, refused, stop_after, succeed

BARS = ("--data", "bars-and-stripes:3", "--hidden", 4, "--updates", 200)


def trained(name, *options):
    """A run with its log, its result and its model file."""
    done = succeed("train", *BARS, *options, "--out", f"{name}.safetensors", "--log", f"{name}.jsonl", "--json")
    Path(f"{name}.json").write_text(done.stdout)
    return json.loads(done.stdout)


def logged(*updates, **monitors):
    """Lines of a log, each a second after the one before."""
    return "".join(json.dumps({"update": u, "epoch": u / 2, "seconds": k + 1.0,
                               **{name: value + k for name, value in monitors.items()}}) + "\n"
                   for k, u in enumerate(updates))


def cells(text):
    """The table by its first column."""
    return {line.split("  ")[0].strip(): line for line in text.splitlines()}


def curves(path):
    """The titles of the charts and, for each curve, its class and its points."""
    root = ET.parse(path).getroot()
    name = "{http://www.w3.org/2000/svg}"
    lines = [(group.get("class"), group.find(f"{name}polyline").get("points").split())
             for group in root.iter(f"{name}g") if group.get("class")]
    texts = [text.text for text in root.iter(f"{name}text")]
    return lines, texts


def test_a_table_of_runs():
    a, b = trained("a"), trained("b", "--learning-rate", 0.1, "--seed", 2)
    answer = ask("compare-runs", "a.jsonl", "a.json", "a.safetensors", "b.safetensors", "b.jsonl", "b.json")
    assert [run["run"] for run in answer["runs"]] == ["a", "b"]
    for run, told in zip(answer["runs"], (a, b)):
        assert run["machine"] == "rbm" and run["updates"] == 200 and not run["stopped"]
        assert set(run["differing"]) == {"learning-rate", "seed"}
        assert run["monitors"] == told["monitors"]
        assert run["log_likelihood"]["value"] == told["monitors"]["log_likelihood"]
        assert run["records"] == len(Path(run["run"] + ".jsonl").read_text().splitlines())
    table = cells(succeed("compare-runs", "a.jsonl", "a.json", "a.safetensors", "b.safetensors").stdout)
    assert table["run"].split() == ["run", "a", "b"]
    assert table["--seed"].split() == ["--seed", "1", "2"]
    assert table["updates"].split() == ["updates", "200", "200"]
    assert "--hidden" not in table


def test_the_bracket_of_the_likelihood():
    succeed("train", "--data", "digits:100", "--hidden", 40, "--updates", 100, "--out", "m.safetensors")
    done = succeed("train", "--data", "digits:100", "--hidden", 40, "--updates", 100, "--out", "m.safetensors", "--json")
    Path("m.json").write_text(done.stdout)
    told = json.loads(done.stdout)["log_likelihood"]
    (run,) = ask("compare-runs", "m.json")["runs"]
    assert run["log_likelihood"] == {key: told[key] for key in ("value", "lower", "upper")}
    line = cells(succeed("compare-runs", "m.json").stdout)["log-likelihood"]
    assert f"{told['value']:.2f} [{told['lower']:.2f}, {told['upper']:.2f}]" in line


def test_the_picture_shows_each_run_by_updates_and_by_time():
    Path("a.jsonl").write_text(logged(0, 100, 200, log_likelihood=-9.0))
    Path("b.jsonl").write_text(logged(0, 50, log_likelihood=-8.0, error=0.5))
    done = succeed("compare-runs", "a.jsonl", "b.jsonl", "--out", "c.svg")
    assert "log_likelihood" in done.stderr and "c.svg" in done.stderr
    lines, texts = curves("c.svg")
    by_class = {}
    for names, points in lines:
        by_class.setdefault(names, []).append(points)
    a, b = by_class["curve c0 d0"], by_class["curve c1 d0"]  # in the legend, by updates, by time
    assert [len(points) for points in a] == [2, 3, 3] and [len(points) for points in b] == [2, 2, 2]
    # By updates a is four times as long as b; by time, twice: from second 1 on, in both charts across the whole width.
    ends = [float(points[-1].split(",")[0]) for points in (a[1], b[1], a[2], b[2])]
    assert ends[0] == ends[2] and (ends[1] - 58) * 4 == pytest.approx(ends[0] - 58, abs=1)
    assert (ends[3] - 58) * 2 == pytest.approx(ends[2] - 58, abs=1)
    for text in ("a", "b", "updates", "time of training (seconds)", "Log-likelihood (nats)"):
        assert text in texts


@pytest.mark.parametrize("seconds, unit", [(100.0, "seconds"), (1000.0, "minutes"), (50000.0, "hours")])
def test_time_is_in_a_unit_that_suits_it(seconds, unit):
    rows = [{"update": u, "epoch": 1.0, "seconds": seconds * u, "error": 0.5} for u in (0, 1)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    succeed("compare-runs", "a.jsonl", "--out", "c.svg")
    assert f"time of training ({unit})" in curves("c.svg")[1]


def test_a_monitor_can_be_chosen():
    Path("a.jsonl").write_text(logged(0, 1, log_likelihood=-9.0, error=0.5))
    Path("b.jsonl").write_text(logged(0, 1, weight_norm=1.0))
    answer = ask("compare-runs", "a.jsonl", "b.jsonl", "--out", "c.svg", "--monitor", "error")
    assert answer["monitor"] == "error" and answer["picture"] == "c.svg"
    done = succeed("compare-runs", "a.jsonl", "b.jsonl", "--out", "c.svg")
    assert "warning: b: no records of log_likelihood" in done.stderr
    refused(USAGE, "compare-runs", "a.jsonl", "b.jsonl", "--out", "d.svg", "--monitor", "errors",
            says=("--monitor", "log_likelihood, error, weight_norm"))
    refused(USAGE, "compare-runs", "a.jsonl", "--monitor", "error", says="--out")


def test_a_run_that_was_stopped():
    line = ("train", *BARS, "--steps", 100, "--out", "m.safetensors", "--log", "m.jsonl")
    code, _, err = stop_after(5, signal.SIGINT, *line)
    assert code == 130, err
    (run,) = ask("compare-runs", "m.safetensors.checkpoint", "m.jsonl")["runs"]
    assert run["run"] == "m" and run["machine"] == "rbm" and run["stopped"]
    assert 5 <= run["updates"] < 200 and run["seconds"] >= 0
    assert "(stopped)" in succeed("compare-runs", "m.safetensors.checkpoint").stdout


def test_runs_of_different_machines():
    trained("a")
    succeed("train", "--model", "boltzmann", "--data", "bars-and-stripes:3", "--updates", 100, "--out", "b.safetensors",
            "--log", "b.jsonl", "--no-likelihood")
    succeed("train", "--model", "hopfield", "--data", "bars-and-stripes:3", "--patterns", 2, "--out",
            "h.safetensors")
    succeed("classify", "fit", "--data", "digits:200", "--random-start", "--hidden", 5, "--epochs", 2, "--out", "c")
    answer = ask("compare-runs", "a.safetensors", "b.safetensors", "b.jsonl", "h.safetensors", "c")
    assert [run["machine"] for run in answer["runs"]] == ["rbm", "boltzmann", "hopfield", "network"]
    assert answer["runs"][0]["differing"]["hidden"] == "4" and "visible-type" not in answer["runs"][0]["differing"]
    assert "-" in cells(succeed("compare-runs", "a.safetensors", "h.safetensors").stdout)["seconds"]


def test_broken_logs_are_taken_up_to_the_fault():
    Path("a.jsonl").write_text(logged(0, 1, 2, error=0.5) + '{"update": 3, "ep')
    done = succeed("compare-runs", "a.jsonl")
    assert "a.jsonl, line 4" in done.stderr and "the 3 records before it are taken" in done.stderr
    assert cells(done.stdout)["updates"].split() == ["updates", "2"]
    Path("b.jsonl").write_text(logged(0, error=0.5) + "dear diary\n" + logged(2, error=0.5))
    assert "b.jsonl, line 2" in succeed("compare-runs", "b.jsonl").stderr
    Path("empty.jsonl").write_text("")
    assert "the log is empty" in succeed("compare-runs", "empty.jsonl", "a.jsonl", "--out", "c.svg").stderr


def test_a_rescued_run_shows_where_it_went():
    rows = (logged(0, 1, 2, error=0.5) + json.dumps({"update": 0, "epoch": 0.0, "seconds": 4.0, "rescues": 1.0}) + "\n"
            + logged(1, error=0.1))
    Path("a.jsonl").write_text(rows)
    (run,) = ask("compare-runs", "a.jsonl")["runs"]
    assert run["rescues"] == 1 and run["updates"] == 1 and run["records"] == 2 and run["monitors"] == {"error": 0.1}


def test_what_is_refused():
    Path("a.jsonl").write_text(logged(0, 1, error=0.5))
    Path("a.log").write_text(logged(0, 1, error=0.5))
    Path("diary.txt").write_text("dear diary\n")
    Path("noise.bin").write_bytes(bytes(range(256)))
    refused(USAGE, "compare-runs", says="FILE")
    refused(NO_INPUT, "compare-runs", "a.jsonl", "none.jsonl", says="none.jsonl")
    refused(BAD_DATA, "compare-runs", "diary.txt", says=("diary.txt, line 1", "JSON"))
    refused(BAD_DATA, "compare-runs", "noise.bin", says="noise.bin")
    refused(USAGE, "compare-runs", "a.jsonl", "a.log", says=("a second log of the run a", "a.log"))
    refused(USAGE, "compare-runs", "a.jsonl", "--out", "c.png", says=("--out", ".svg"))
    Path("e.json").write_text(json.dumps({"rows": 3}, indent=2))
    refused(BAD_DATA, "compare-runs", "e.json", says=("e.json", "train --json"))
    small = json.dumps({"updates": 3, "monitors": {}, "stopped": False})
    Path("r.json").write_text(small)
    refused(USAGE, "compare-runs", "r.json", "--out", "c.svg", says="logs")


def test_damaged_model_files_are_said():
    trained("a")
    whole = bytearray(Path("a.safetensors").read_bytes())
    whole[-1] ^= 1
    Path("a.safetensors").write_bytes(whole)
    refused(BAD_DATA, "compare-runs", "a.jsonl", "a.safetensors", says="a.safetensors")
