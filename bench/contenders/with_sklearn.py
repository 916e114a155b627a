"""scikit-learn's BernoulliRBM in float32. It trains by PCD-1 only, whatever the request calls the method, which costs
as much as CD-1. Through `fit`: `partial_fit` would turn everything to float64."""

import numpy as np
import sklearn
from sklearn.neural_network import BernoulliRBM

import machines
from contenders.serve import Snapshots, Stopwatch, first_rows, serve


class Timed(BernoulliRBM):
    """Gives the machine the start that the others have, lets the clock run from the first update, takes the snapshots.
    From visible biases of zero, which are scikit-learn's own start, 16 hidden units hardly learn."""

    def prepare(self, request, start):
        self.start = start
        self.watch = Stopwatch()
        self.snapshots = Snapshots(request, self.watch)

    def machine(self):
        return machines.Machine(self.components_.T, self.intercept_visible_, self.intercept_hidden_)

    def _fit(self, v_pos, rng):
        if self.snapshots.updates == 0:
            self.components_[:] = self.start.weights.T
            self.intercept_visible_[:] = self.start.visible_bias
            self.watch.start()
        super()._fit(v_pos, rng)
        self.snapshots.after_update(self.machine)


def train(request):
    if request["steps"] != 1:
        raise ValueError("scikit-learn does one step")
    rows = first_rows(request["data"], request["rows"])
    rbm = Timed(request["hidden"], learning_rate=request["rate"], batch_size=request["batch"],
                n_iter=request["epochs"], random_state=request["seed"])
    rbm.prepare(request, machines.first_machine(rows, request["hidden"], request["seed"]))
    rbm.fit(rows)
    rbm.watch.stop()
    if "out" in request:
        machines.save(request["out"], rbm.machine())
    return {"seconds": rbm.watch.seconds, "snapshots": rbm.snapshots.taken}


def gibbs(request):
    machine = machines.load(request["machine"])
    rbm = BernoulliRBM(machine.weights.shape[1], random_state=request["seed"])
    rbm.components_ = np.asfortranarray(machine.weights.T)
    rbm.intercept_visible_, rbm.intercept_hidden_ = machine.visible_bias, machine.hidden_bias
    visible = first_rows(request["data"], request["chains"])
    watch = Stopwatch()
    watch.start()
    for _ in range(request["sweeps"]):
        visible = rbm.gibbs(visible)
    watch.stop()
    return {"seconds": watch.seconds, "activity": float(visible.mean())}


if __name__ == "__main__":
    serve("sklearn", sklearn.__version__, {"train": train, "gibbs": gibbs})
