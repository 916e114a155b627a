"""NumPy on OpenBLAS, float32, without temporaries."""

import numpy as np

from contenders import matrices
from contenders.serve import Stopwatch, serve


class Numpy(matrices.Operations):
    product = np.empty(0)

    def seed(self, seed):
        self.random = np.random.Generator(np.random.SFC64(seed))

    def matrix(self, array):
        return np.array(array, np.float32)

    def empty(self, *shape):
        return np.empty(shape, np.float32)

    def array(self, matrix):
        return matrix

    def affine(self, bias, x, weights, out):
        np.matmul(x, weights, out=out)
        out += bias

    def draw(self, fields, out):
        # u < 1/(1 + e^-f) without the division; an overflow to infinity says "off", as it should.
        self.random.random(out=out, dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            np.negative(fields, out=fields)
            np.exp(fields, out=fields)
            fields += 1
            fields *= out
            np.less(fields, 1, out=out)

    def add_outer(self, x, v, scale, weights):
        if self.product.shape != weights.shape:
            self.product = np.empty_like(weights)
        np.matmul(x.T, v, out=self.product)
        self.product *= np.float32(scale)
        weights += self.product

    def softplus_sums(self, fields):
        positive = np.maximum(fields, 0).sum(axis=1)
        np.abs(fields, out=fields)
        np.negative(fields, out=fields)
        np.exp(fields, out=fields)
        return positive + np.log1p(fields, out=fields).sum(axis=1)


def spins(request):
    """All chains of a dense Boltzmann machine side by side, a column each: spin after spin, a product of its couplings
    with all spins. A spin is up where its field exceeds half a logistic random number."""
    random = np.random.Generator(np.random.SFC64(request["seed"]))
    couplings = np.load(request["couplings"])
    units = len(couplings)
    state = np.where(random.random((units, request["chains"])) < 0.5, -1, 1).astype(np.float32)
    field = np.empty(request["chains"], np.float32)
    watch = Stopwatch()
    watch.start()
    for _ in range(request["sweeps"]):
        uniform = random.random(state.shape, dtype=np.float32).clip(1e-7, 1 - 1e-7)
        threshold = 0.5 * np.log(uniform / (1 - uniform))
        for i in range(units):
            np.dot(couplings[i], state, out=field)
            np.subtract(field, threshold[i], out=field)
            np.copysign(1, field, out=state[i])
    watch.stop()
    energy = -0.5 * (state * (couplings @ state)).sum(axis=0, dtype=np.float64).mean() / units
    return {"seconds": watch.seconds, "energy": energy}


if __name__ == "__main__":
    serve("numpy", np.__version__, {**matrices.kinds(Numpy()), "spins": spins})
