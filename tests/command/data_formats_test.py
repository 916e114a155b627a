"""The same data in any format gives the same bytes; grey levels become bits as documented; parts are disjoint."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from conftest import ask, bars_and_stripes, idx_bytes, rows_seen, small_machine, succeed, write_data

BITS = np.random.default_rng(5).integers(0, 2, (60, 7), np.uint8)
GREY = np.random.default_rng(6).integers(0, 256, (80, 9), np.uint8)

FORMS = {
    "npy uint8": ("npy", BITS),
    "npy bool": ("npy", BITS.astype(bool)),
    "npy float32": ("npy", BITS.astype(np.float32)),
    "npy float64": ("npy", BITS.astype(np.float64)),
    "npy int64": ("npy", BITS.astype(np.int64)),
    "npy big-endian": ("npy", BITS.astype(">f8")),
    "npy Fortran order": ("npy", np.asfortranarray(BITS)),
    "npy Fortran order float64": ("npy", np.asfortranarray(BITS.astype(np.float64))),
    "npz": ("npz", BITS),
    "csv": ("csv", BITS),
    "idx": ("idx", BITS),
    "idx.gz": ("idx.gz", BITS),
}


def model_from(path):
    """The bytes of a machine trained on a file."""
    succeed("train", "--data", path, "--hidden", 5, "--epochs", 3, "--seed", 9, "--out", "m.safetensors", "--quiet")
    return Path("m.safetensors").read_bytes()


@pytest.mark.parametrize("form", [name for name in FORMS if name != "npy uint8"])
def test_the_format_does_not_shape_the_machine(form):
    """Neither does the folder, nor the end of the file's name: formats are told by their content."""
    for folder, name in (("first", "npy uint8"), ("second", form)):
        Path(folder).mkdir()
        write_data(f"{folder}/data", *FORMS[name])
    assert model_from("first/data") == model_from("second/data")


@pytest.mark.parametrize("form", FORMS)
def test_rows_arrive_in_order(form):
    write_data("data", *FORMS[form])
    assert (rows_seen("data", 7) == BITS).all()


@pytest.mark.parametrize("text", ["0;1;1\n1;0;0\n", "0\t1\t1\n1\t0\t0\n", "0 1 1\n1 0 0\n", " 0, 1, 1\r\n1, 0, 0\r\n",
                                  "a,b,c\n0,1,1\n1,0,0", "# note\n\n0.0,1.0,1e0\n1,0,0\n", '"0","1","1"\n1,0,0\n'])
def test_tables_as_people_write_them(text):
    Path("data.csv").write_text(text)
    assert (rows_seen("data.csv", 3) == [[0, 1, 1], [1, 0, 0]]).all()


@pytest.mark.parametrize("name", ["x", "X", "images", "data", "anything"])
def test_names_in_an_archive(name):
    np.savez("data.npz", **{name: BITS})
    assert (rows_seen("data.npz", 7) == BITS).all()


def test_labels_come_from_the_archive_or_from_a_file():
    labels = np.arange(60) % 3
    np.savez("both.npz", x=BITS, y=labels)
    np.save("data.npy", BITS)
    np.save("labels.npy", labels)
    Path("labels.gz").write_bytes(gzip.compress(idx_bytes(labels.astype(np.uint8))))
    assert ask("data", "show", "--data", "both.npz")["labels"] == [20, 20, 20]
    for file in ("labels.npy", "labels.gz"):
        assert ask("data", "show", "--data", "data.npy", "--labels", file)["labels"] == [20, 20, 20]
    assert ask("data", "show", "--data", "data.npy")["labels"] == []


def test_pictures_keep_their_shape():
    Path("data.idx").write_bytes(idx_bytes(BITS[:, :6].reshape(60, 2, 3)))
    shown = ask("data", "show", "--data", "data.idx")
    assert (shown["rows"], shown["units"], shown["height"], shown["width"]) == (60, 6, 2, 3)
    assert shown["mean"] == pytest.approx(BITS[:, :6].mean())
    model_from("data.idx")
    assert ask("inspect", "m.safetensors")["notes"]["picture"] == "2x3"


def test_made_sets_are_what_they_say():
    rows = rows_seen("bars-and-stripes:3", 9)
    assert sorted(map(tuple, rows)) == sorted(map(tuple, bars_and_stripes(3)))
    assert sorted(map(tuple, rows_seen("shifting-bars:6", 6))) == sorted(map(tuple, np.eye(6, dtype=int)))
    assert ask("data", "show", "--data", "digits:500") == ask("data", "show", "--data", "digits:500")


# ---- Binarising ----


@pytest.mark.parametrize("form", ["npy", "idx", "idx.gz", "npz"])
@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.35, 0.5, 0.6, 0.999, 1.0])
def test_grey_bytes_are_cut_at_the_threshold(form, threshold):
    write_data("data", form, GREY)
    assert (rows_seen("data", 9, "--threshold", threshold) == (GREY / 255.0 >= threshold)).all()


def test_every_grey_byte_is_cut_at_its_own_level():
    levels = np.arange(256, dtype=np.uint8).reshape(1, -1)
    np.save("data.npy", levels)
    for level in (1, 51, 77, 128, 200, 254):
        seen = rows_seen("data.npy", 256, "--threshold", repr(level / 255))
        assert (seen == (levels >= level)).all(), level


@pytest.mark.parametrize("form", ["npy", "csv"])
@pytest.mark.parametrize("threshold", [0.25, 0.35, 0.5])
def test_fractions_are_cut_at_the_threshold(form, threshold):
    """A value that equals the threshold is on; one a little below is off."""
    values = np.round(np.random.default_rng(8).integers(0, 21, (30, 4)) * 0.05, 2)
    values[0] = [threshold, np.nextafter(threshold, 0), threshold - 1e-6, threshold + 1e-6]
    if form == "csv":
        Path("data").write_text("\n".join(",".join(map(repr, row)) for row in values.tolist()))
    else:
        write_data("data", form, values)
    assert (rows_seen("data", 4, "--threshold", threshold) == (values >= threshold)).all()


def test_a_fixed_draw_is_the_same_for_everybody():
    np.save("data.npy", GREY)
    first = rows_seen("data.npy", 9, "--binarise", "fixed")
    assert (first == rows_seen("data.npy", 9, "--binarise", "fixed", "--seed", 77)).all()
    assert (first != rows_seen("data.npy", 9, "--binarise", "threshold")).any()


def test_a_fixed_draw_has_the_right_frequencies():
    """Within 4.5 standard errors in each of 16 columns, 2000 rows each; never on at 0, always at 255."""
    levels = (17 * np.arange(16)).astype(np.uint8)
    np.save("data.npy", np.tile(levels, (2000, 1)))
    share = rows_seen("data.npy", 16, "--binarise", "fixed").mean(axis=0)
    p = levels / 255
    assert (abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / 2000)).all()
    assert share[0] == 0 and share[-1] == 1


def test_a_dynamic_draw_depends_on_the_seed_alone():
    np.save("data.npy", GREY)
    one, again, other = (rows_seen("data.npy", 9, "--binarise", "dynamic", "--seed", seed) for seed in (1, 1, 2))
    assert (one == again).all() and (one != other).any()
    p = GREY / 255.0
    assert abs((one - p).sum()) < 4.5 * np.sqrt((p * (1 - p)).sum())


# ---- Parts ----


@pytest.mark.parametrize("share, test_rows", [(0.1, 6), (0.25, 15), (0.5, 30), (0.99, 59)])
def test_parts_are_disjoint_and_repeatable(share, test_rows):
    names = (np.arange(60)[:, None] >> np.arange(6) & 1).astype(np.uint8)  # each row is its own number
    np.save("data.npy", names)

    def part(split):
        rows = rows_seen("data.npy", 6, "--test-share", share, "--split", split)
        return (rows.astype(int) << np.arange(6)).sum(axis=1).tolist()

    train, test = part("train"), part("test")
    assert len(test) == test_rows and sorted(train + test) == list(range(60))
    assert test == part("test") == part("auto") and train == part("train")
    assert test != sorted(range(60))[:test_rows]  # drawn at random, not the first rows


def test_evaluate_counts_the_rows_of_its_part():
    small_machine("m.safetensors")
    np.save("data.npy", np.random.default_rng(2).integers(0, 2, (50, 9), np.uint8))
    evaluate = ("evaluate", "m.safetensors", "--data", "data.npy")
    for split, rows in (("train", 35), ("test", 15), ("auto", 15)):
        assert ask(*evaluate, "--test-share", 0.3, "--split", split)["rows"] == rows
    assert ask(*evaluate)["rows"] == 50


def test_only_bits_are_said_to_be_on():
    assert "bits on    0.5000" in succeed("data", "show", "--data", "bars-and-stripes:3").stdout
    shown = succeed("data", "show", "--data", "two-moons:50").stdout
    assert "mean  " in shown and "bits on" not in shown
