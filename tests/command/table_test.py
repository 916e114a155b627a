"""A table as people have it, with an index, a column of words, a label and gaps: described, trained on, completed and
scored in four commands."""

import csv

import numpy as np

from conftest import ask, succeed

TOWNS = ("Utrecht", "Delft", "Gouda")
QUESTIONS = 12


def people(rows=600, seed=1):
    """Answers that follow from three habits, of which the town is one and the label another."""
    draw = np.random.default_rng(seed)
    habits = draw.integers(0, 2, (rows, 3))
    answers = (draw.random((rows, QUESTIONS)) < np.where(np.repeat(habits, QUESTIONS // 3, axis=1), 0.9, 0.1)).astype(int)
    towns = np.where(draw.random(rows) < 0.8, habits[:, 0], draw.integers(0, 3, rows))
    return answers, towns, habits[:, 2]


def write_table(path, answers, towns, labels, gaps):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["", *(f"question {k + 1}" for k in range(QUESTIONS)), "town", "buys"])
        for r, (row, town, label) in enumerate(zip(answers, towns, labels)):
            cells = [str(bool(value)) for value in row] + [TOWNS[town]]
            out.writerow([r, *("" if gap else cell for cell, gap in zip(cells, gaps[r])), ("no", "yes")[label]])


def read(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_four_commands_from_a_table_to_its_completion_and_scores():
    answers, towns, labels = people()
    draw = np.random.default_rng(2)
    gaps = draw.random((len(towns), QUESTIONS + 1)) < 0.05
    write_table("people.csv", answers, towns, labels, gaps)
    table = ("--data", "people.csv", "--label-column", "buys", "--missing")

    shown = succeed("data", "show", *table)
    assert "600 rows of 15 units" in shown.stdout and "town" in shown.stdout + shown.stderr
    succeed("train", *table, "--hidden", 12, "--out", "m.safetensors")

    succeed("complete", "m.safetensors", *table, "--out", "full.csv")
    full = read("full.csv")
    assert full[0] == [f"question {k + 1}" for k in range(QUESTIONS)] + [f"town={town}" for town in sorted(TOWNS)]
    values = np.array(full[1:], float)
    assert values.shape == (600, QUESTIONS + 3)
    known = ~gaps[:, :QUESTIONS]
    assert np.array_equal(values[:, :QUESTIONS][known], answers[known])

    scores = ask("score", "m.safetensors", *table, "--out", "scores.csv")
    assert scores["rows"] == 600 and set(scores["area_under_curve"]) == {"no", "yes"}
    assert read("scores.csv")[0][:4] == ["row", "rank", "label", "free_energy"]

    # Where the truth is known, what the machine says of hidden values is better than the two simple ways.
    write_table("whole.csv", *people(seed=3), np.zeros((600, QUESTIONS + 1), bool))
    quality = ask("complete", "m.safetensors", "--data", "whole.csv", "--label-column", "buys", "--mask", "random:0.2",
                  "--out", "again.csv")["quality"]
    machine = quality["machine"]["log_probability"]["value"]
    assert machine > quality["independent"]["log_probability"]["value"]
    assert machine > quality["neighbour"]["log_probability"]["value"]


def test_features_of_a_table_go_with_its_label():
    """Hidden units of a machine that never saw the label tell it: the area under the curve of the best one is high."""
    answers, towns, labels = people()
    write_table("people.csv", answers, towns, labels, np.zeros((len(towns), QUESTIONS + 1), bool))
    table = ("--data", "people.csv", "--label-column", "buys")
    succeed("train", *table, "--hidden", 8, "--out", "m.safetensors")
    succeed("features", "m.safetensors", *table, "--out", "f.csv")
    lines = read("f.csv")
    assert lines[0] == [f"hidden {k + 1}" for k in range(8)]
    features = np.array(lines[1:], float)
    correlations = [abs(np.corrcoef(column, labels)[0, 1]) for column in features.T]
    assert max(correlations) > 0.7
