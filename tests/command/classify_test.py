"""Classifiers: pre-trained or not, fitted, applied to rows and judged."""

import signal
from pathlib import Path

import numpy as np
import pytest
from conftest import BAD_DATA, IO, NO_INPUT, USAGE, ask, read_safetensors, refused, stop_after, stop_when, succeed

SIDE = 6


def blobs(rows, seed, noise=0.1):
    """Pictures of a bar at one of three places, with a share of the pixels flipped."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 3, rows)
    x = np.zeros((rows, SIDE, SIDE), np.uint8)
    for place in range(3):
        x[labels == place, :, 2 * place:2 * place + 2] = 1
    return x ^ (draw.random(x.shape) < noise), labels


@pytest.fixture(autouse=True)
def data():
    for name, rows, seed in (("train", 600, 1), ("test", 300, 2)):
        x, y = blobs(rows, seed)
        np.savez(f"{name}.npz", x=x, y=y)


def fit(*options, out="c"):
    return ask("classify", "fit", "--data", "train.npz", "--hidden", "20,10", "--pretrain-updates", 600, "--epochs", 20,
               "--out", out, *options)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rectified(x):
    return np.maximum(x, 0)


def probabilities_of(path, x, activation=sigmoid):
    """p(y | x) by NumPy, from the file."""
    tensors = read_safetensors(path)[0]
    values, depth = x.reshape(len(x), -1).astype(float), len([name for name in tensors if name.startswith("bias")])
    for k in range(depth):
        values = values @ tensors[f"weights{k}"] + tensors[f"bias{k}"]
        if k + 1 < depth:
            values = activation(values)
    values = np.exp(values - values.max(1, keepdims=True))
    return values / values.sum(1, keepdims=True)


@pytest.mark.parametrize("options, activation", [((), sigmoid), (("--activation", "relu"), rectified)],
                         ids=["sigmoid", "relu"])
def test_classes_and_probabilities_are_those_of_the_network(options, activation):
    assert fit(*options)["held_out_error"] < 0.05
    x, y = blobs(300, 2)
    truth = probabilities_of("c", x, activation)
    succeed("classify", "predict", "c", "--data", "test.npz", "--out", "p.npy")
    found = np.load("p.npy")
    assert np.abs(found[:, 1:] - truth).max() < 1e-5
    assert (found[:, 0] == truth.argmax(1)).all()
    succeed("classify", "predict", "c", "--data", "test.npz", "--out", "p.csv")
    assert Path("p.csv").read_text().startswith("class,p(0),p(1),p(2)\n")
    assert np.allclose(np.loadtxt("p.csv", delimiter=",", skiprows=1), found, atol=1e-5)


def test_a_report_counts_mistakes_as_numpy_does():
    fit()
    x, y = blobs(300, 2, noise=0.4)
    np.savez("noisy.npz", x=x, y=y)
    truth = probabilities_of("c", x)
    found = ask("classify", "evaluate", "c", "--data", "noisy.npz", "--confusion", "confusion.png", "--mistakes",
                "mistakes.png")
    wrong = truth.argmax(1) != y
    assert found["rows"] == 300 and found["error"] == pytest.approx(wrong.mean())
    assert found["log_loss"] == pytest.approx(-np.log(truth[np.arange(300), y]).mean(), abs=1e-5)
    confusion = np.zeros((3, 3), int)
    np.add.at(confusion, (y, truth.argmax(1)), 1)
    assert found["confusion"] == confusion.tolist()
    low, high = found["error_interval"]
    assert low <= found["error"] <= high and high - low < 0.12
    confidence, right = truth.max(1), ~wrong
    bins = np.minimum((confidence * 15).astype(int), 14)
    assert found["calibration"] == pytest.approx(
        sum(abs(confidence[bins == b].sum() - right[bins == b].sum()) for b in range(15)) / 300, abs=1e-4)
    assert Path("confusion.png").read_bytes()[1:4] == b"PNG" and Path("mistakes.png").read_bytes()[1:4] == b"PNG"
    rows = np.flatnonzero(~wrong)
    np.savez("right.npz", x=x[rows], y=y[rows])
    done = succeed("classify", "evaluate", "c", "--data", "right.npz", "--mistakes", "none.png")
    assert "no row is wrong" in done.stderr and not Path("none.png").exists()


def test_a_network_begins_with_the_hidden_layer_of_a_machine():
    for hidden_type, visible_type in (("bernoulli", "bernoulli"), ("spin", "spin")):
        succeed("train", "--data", "train.npz", "--hidden", 8, "--updates", 200, "--visible-type", visible_type,
                "--hidden-type", hidden_type, "--out", "m.safetensors")
        succeed("classify", "fit", "--data", "train.npz", "--from", "m.safetensors", "--learning-rate", 1e-9, "--epochs",
                1, "--out", f"{hidden_type}.c")
        succeed("features", "m.safetensors", "--data", "test.npz", "--out", "f.npy")
        tensors = read_safetensors(f"{hidden_type}.c")[0]
        x, _ = blobs(300, 2)
        means = sigmoid(x.reshape(300, -1) @ tensors["weights0"] + tensors["bias0"])
        features = np.load("f.npy")
        assert np.abs(means - (features + 1) / 2 if hidden_type == "spin" else means - features).max() < 1e-5


@pytest.mark.parametrize("options", [
    (), ("--activation", "relu"), ("--optimiser", "adam"),
    ("--random-start", "--activation", "relu", "--dropout", 0.5, "--input-dropout", 0.2),
    ("--max-norm", 2, "--l2", 0.001, "--labels-per-class", 20),
    ("--smoothing", 0.2, "--labels-per-class", 20, "--pretrain-rate", 0.1),
], ids=["pre-trained", "rectified", "adam", "dropout", "few labels", "smoothing"])
def test_same_bytes_on_threads_and_through_interruption(options):
    contents = set()
    for threads in (1, 2, 3):
        fit("--threads", threads, *options)
        contents.add(Path("c").read_bytes())
        Path("c").unlink()
    line = ("classify", "fit", "--data", "train.npz", "--hidden", "20,10", "--pretrain-updates", 600, "--epochs", 20,
            "--out", "c", *options)
    stop_after(2, signal.SIGTERM, *line)
    succeed(*line, "--resume")
    contents.add(Path("c").read_bytes())
    assert len(contents) == 1
    # A guess is wrong in two of three cases. Sixty labels are one batch, so that twenty epochs are twenty updates.
    assert ask("classify", "evaluate", "c", "--data", "test.npz")["error"] < 0.4


def test_max_norm_holds():
    fit("--random-start", "--max-norm", 1)
    tensors = read_safetensors("c")[0]
    for name, values in tensors.items():
        if name.startswith("weights"):
            assert (np.linalg.norm(values, axis=0) <= 1 + 1e-5).all()


def test_labels_that_are_words_name_the_classes():
    x, y = blobs(200, 3)
    words = np.array(["left", "middle", "right"])
    lines = [",".join(map(str, [*row.reshape(-1), words[label]])) for row, label in zip(x, y)]
    Path("t.csv").write_text("\n".join([",".join([f"p{i}" for i in range(36)] + ["place"]), *lines]) + "\n")
    succeed("classify", "fit", "--data", "t.csv", "--label-column", "place", "--hidden", 8, "--pretrain-updates", 50,
            "--epochs", 20, "--out", "c")
    succeed("classify", "predict", "c", "--data", "t.csv", "--label-column", "place", "--out", "p.csv")
    assert Path("p.csv").read_text().startswith("class,p(left),p(middle),p(right)\n")


def test_labels_that_cannot_be_learned_are_refused():
    x, y = blobs(20, 4)
    line = ("classify", "fit", "--hidden", 3, "--out", "c", "--data")
    for label, says in ((-5, "row 4: expected a label from 0 up, found -5; leave rows without a label out"),
                        (1000, "expected labels from 0 to 999 at most, found 1000"),
                        (10**9, "expected labels from 0 to 999 at most"), (0.5, "expected a whole number as label")):
        np.savez("odd.npz", x=x, y=np.where(np.arange(20) == 3, label, y))
        refused(BAD_DATA, *line, "odd.npz", says=says)
    np.savez("few.npz", x=x, y=y[:7])
    refused(BAD_DATA, *line, "few.npz", says="expected a label for each of 20 rows, found 7")
    np.savez("gap.npz", x=x, y=2 * y)
    refused(BAD_DATA, *line, "gap.npz", "--labels-per-class", 2, says="found 0 of class 1; number classes without a gap")
    refused(BAD_DATA, *line, "train.npz", "--labels-per-class", 500, says="take fewer --labels-per-class")
    fit()
    np.savez("odd.npz", x=x, y=np.where(np.arange(20) == 3, -1, y))
    refused(BAD_DATA, "classify", "evaluate", "c", "--data", "odd.npz", says="found -1; leave rows without a label out")


def test_data_without_rows_to_learn_from_is_refused():
    fit(out="good")
    x, y = blobs(20, 4)
    np.savez("none.npz", x=x[:0], y=y[:0])
    np.savez("one.npz", x=x[:1], y=y[:1])
    Path("empty.csv").write_text("")
    Path("head.csv").write_text("a,b,k\n")
    Path("nan.csv").write_text("a,b,k\n1,0,1\nnan,1,0\n")
    for name, code, says in (("none.npz", BAD_DATA, "the data set is empty"),
                             ("empty.csv", BAD_DATA, "found no line with content"),
                             ("head.csv", BAD_DATA, "found the end of the file"),
                             ("nan.csv", BAD_DATA, ("row 2, column 1 (a)", "--missing")),
                             ("absent.npz", NO_INPUT, "no such file")):
        label = ("--label-column", "k") if name.endswith("csv") else ()
        refused(code, "classify", "fit", "--data", name, *label, "--hidden", 3, "--out", "c", says=says)
        refused(code, "classify", "evaluate", "good", "--data", name, *label, says=says)
        refused(code, "classify", "predict", "good", "--data", name, *label, "--out", "p.csv", says=says)
    refused(BAD_DATA, "classify", "fit", "--data", "one.npz", "--hidden", 3, "--out", "c", says="at least two classes")
    assert ask("classify", "predict", "good", "--data", "one.npz", "--out", "p.csv")["rows"] == 1
    assert ask("classify", "evaluate", "good", "--data", "one.npz")["rows"] == 1


def test_machines_without_fitting_hidden_layers_are_refused():
    train = ("train", "--data", "train.npz", "--quiet", "--no-likelihood", "--updates", 2)
    succeed(*train, "--model", "boltzmann", "--out", "b.safetensors")
    succeed(*train, "--model", "neural", "--out", "n.safetensors")
    x, y = blobs(20, 4)
    np.savez("small.npz", x=x[:, :3], y=y)
    succeed("train", "--data", "small.npz", "--hidden", 3, "--updates", 2, "--quiet", "--out", "s.safetensors")
    fit(out="good")
    line = ("classify", "fit", "--data", "train.npz", "--out", "c", "--from")
    for name in ("b.safetensors", "n.safetensors"):
        refused(USAGE, *line, name, says="no hidden layer that a network could begin with; take an RBM")
    refused(USAGE, *line, "s.safetensors", says=("has 18 visible units, the data 36 values", "trained on such rows"))
    refused(BAD_DATA, *line, "good", says="found a classifier")
    refused(NO_INPUT, *line, "absent", says="cannot read absent")


def test_no_file_is_replaced_and_none_goes_where_it_cannot():
    fit(out="good")
    succeed("train", "--data", "train.npz", "--hidden", 3, "--updates", 2, "--quiet", "--out", "m.safetensors")
    line = ("classify", "fit", "--data", "train.npz", "--hidden", 3)
    refused(USAGE, *line, "--out", "train.npz", says="--data and --out both name train.npz")
    refused(USAGE, *line, "--out", "c", "--report", "train.npz", says="both name train.npz")
    refused(USAGE, *line, "--out", "c.html", "--report", "c.html", says="both name c.html")
    refused(USAGE, *line, "--out", "c", "--report", "r.txt", says="expected a name ending in .html")
    refused(USAGE, *line[:4], "--from", "m.safetensors", "--out", "m.safetensors", says="--from and --out")
    refused(IO, *line, "--out", "absent/c", says="no such folder")
    refused(IO, *line, "--out", "c", "--report", "absent/r.html", says="no such folder")
    np.savetxt("rows.csv", blobs(20, 4)[0].reshape(20, -1), fmt="%d", delimiter=",")
    predict = ("classify", "predict", "good", "--data", "rows.csv", "--out")
    refused(USAGE, *predict, "rows.csv", says="--data and --out both name rows.csv")
    refused(USAGE, *predict, "/dev/full", says="expected a name ending in .npy or .csv")
    Path("full.csv").symlink_to("/dev/full")
    refused(IO, *predict, "full.csv", says="expected the name of a file")
    refused(IO, *predict, "absent/p.csv", says="no such folder")
    refused(USAGE, "classify", "evaluate", "good", "--data", "test.npz", "--confusion", "a.png", "--mistakes", "a.png",
            says="both name a.png")


def test_what_does_not_fit_is_refused_and_nothing_is_overwritten():
    fit()
    before = Path("c").read_bytes()
    x, y = blobs(20, 4)
    np.save("bare.npy", x)
    np.savez("one.npz", x=x, y=np.zeros(20, int))
    np.savez("odd.npz", x=x, y=np.where(np.arange(20) == 3, -1, y))
    np.savez("more.npz", x=x, y=np.where(np.arange(20) == 3, 7, y))
    np.savez("small.npz", x=x[:, :3], y=y)
    for name, says in (("bare.npy", "expected a label for each row"), ("one.npz", "at least two classes"),
                       ("odd.npz", "expected a label from 0 up, found -1")):
        refused(BAD_DATA, "classify", "fit", "--data", name, "--hidden", 3, "--out", "c", says=says)
    refused(BAD_DATA, "classify", "fit", "--data", "train.npz", "--labels-per-class", 500, "--out", "c",
            says="expected 500 rows of each class")
    refused(BAD_DATA, "classify", "evaluate", "c", "--data", "more.npz", says=("found 7", "does not know"))
    refused(BAD_DATA, "classify", "evaluate", "c", "--data", "bare.npy", says="expected a label for each row")
    refused(BAD_DATA, "classify", "predict", "c", "--data", "small.npz", "--out", "p.csv",
            says="expected rows of 36 values")
    succeed("train", "--model", "hopfield", "--data", "train.npz", "--patterns", 2, "--out", "h.safetensors")
    refused(USAGE, "classify", "fit", "--data", "train.npz", "--from", "h.safetensors", "--out", "c",
            says="no hidden layer")
    refused(BAD_DATA, "classify", "predict", "h.safetensors", "--data", "test.npz", "--out", "p.csv",
            says=("expected a classifier", "hopfield"))
    refused(BAD_DATA, "sample", "c", "--out", "s.npy", says="found a classifier")
    refused(USAGE, "classify", "fit", "--data", "train.npz", "--random-start", "--from", "h.safetensors", "--out", "c",
            says="contradict")
    refused(USAGE, "classify", "fit", "--data", "train.npz", "--hidden", 9, "--from", "h.safetensors", "--out", "c",
            says="leave out either")
    assert Path("c").read_bytes() == before and not Path("p.csv").exists()


def test_damaged_classifiers_are_refused():
    fit()
    content = Path("c").read_bytes()
    Path("cut").write_bytes(content[:-7])
    Path("other").write_bytes(content.replace(b"36,20,10,3", b"36,20,10,4"))
    for name in ("cut", "other"):
        refused(BAD_DATA, "classify", "predict", name, "--data", "test.npz", "--out", "p.csv", says=name)


@pytest.mark.parametrize("model, hidden", [("rbm", "20"), ("rbm", "20,10"), ("dbm", "20,10"), ("class-rbm", "20")])
def test_pre_training_goes_on_after_a_stop(model, hidden):
    line = ("classify", "fit", "--data", "train.npz", "--model", model, "--hidden", hidden, "--pretrain-updates", 20000,
            "--epochs", 3, "--out", "c")
    succeed(*line)
    whole = Path("c").read_bytes()
    Path("c").unlink()
    code, _, err = stop_when(lambda: Path("c.pretraining").exists(), signal.SIGINT, *line, "--checkpoint-every", 0)
    assert code == 130 and "--resume" in err and not Path("c").exists()
    refused(USAGE, *line, says=("c.pretraining", "--resume"))
    refused(USAGE, *line[:-2], "--epochs", 4, "--out", "c", "--resume", says="epochs")
    succeed(*line, "--resume")
    assert Path("c").read_bytes() == whole
    assert not Path("c.pretraining").exists() and not Path("c.checkpoint").exists()


def test_random_weights_are_compared():
    found = fit("--compare-random", "--labels-per-class", 10)
    for name, key in (("c", "held_out_error"), ("c.random", "random_held_out_error")):
        assert ask("classify", "evaluate", name, "--data", "test.npz")["rows"] == 300
        assert 0 <= found[key] <= 1
    alone = fit("--random-start", "--labels-per-class", 10, out="alone")
    assert alone["held_out_error"] == found["random_held_out_error"]
    tensors, other = read_safetensors("c.random")[0], read_safetensors("alone")[0]
    assert all((tensors[name] == other[name]).all() for name in tensors)
    refused(USAGE, "classify", "fit", "--data", "train.npz", "--random-start", "--compare-random", "--out", "d",
            says="leave one out")


def test_patience_ends_a_run_early():
    x, _ = blobs(600, 1)
    np.savez("noise.npz", x=x, y=np.random.default_rng(3).integers(0, 3, 600))  # there is nothing to learn
    line = ("classify", "fit", "--data", "noise.npz", "--hidden", 20, "--random-start", "--epochs", 100, "--out")
    assert ask(*line, "d")["updates"] == 600
    assert ask(*line, "c", "--patience", 3)["updates"] < 600
    assert ask(*line, "e", "--patience", 100)["updates"] == 600


@pytest.mark.parametrize("model, hidden", [("class-rbm", "20"), ("dbm", "20,10"), ("dbm", "20,10,8")])
def test_other_machines_pre_train_too(model, hidden):
    found = ask("classify", "fit", "--data", "train.npz", "--model", model, "--hidden", hidden, "--pretrain-updates",
                3000, "--epochs", 100, "--out", "c")  # higher layers of a deep machine have little to learn here
    assert found["held_out_error"] < 0.05
    refused(USAGE, "classify", "fit", "--data", "train.npz", "--model", "class-rbm", "--hidden", "20,10", "--out", "d",
            says="one hidden layer")
    refused(USAGE, "classify", "fit", "--data", "train.npz", "--model", "dbm", "--hidden", "20", "--out", "d",
            says="at least two hidden")
    refused(USAGE, "classify", "fit", "--data", "train.npz", "--model", "hopfield", "--out", "d", says="class-rbm")
