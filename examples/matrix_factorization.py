"""Matrix factorisation: ratings of users for items, as products of vectors that are learned.

The ratings are made here, from known vectors and some noise, so that it is known how well anybody can do:
the error cannot fall below the noise. `python -m examples.matrix_factorization` prints both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import operad as mx
from examples.command import read_options

USERS, ITEMS, RANK, NOISE = 300, 200, 6, 0.2
BATCH = 256


class Ratings(NamedTuple):
    """Numbers of users and items, and the ratings, of shape (N,) each."""

    users: Any
    items: Any
    values: Any

    def batches(self, shuffle: bool = False) -> mx.io.NDArrayIter:
        """An iterator over them, with two inputs."""
        data = {"user": self.users, "item": self.items}
        return mx.io.NDArrayIter(data, {"rating": self.values}, BATCH, shuffle=shuffle, seed=0)


def made_up(count: int) -> tuple[Ratings, Ratings]:
    """`count` ratings, and a quarter as many held out, of users and items drawn at random."""
    rng = np.random.default_rng(0)
    users, items = rng.normal(size=(USERS, RANK)), rng.normal(size=(ITEMS, RANK))
    cells = rng.permutation(USERS * ITEMS)[: count + count // 4]
    user, item = np.divmod(cells, ITEMS)
    values = (users[user] * items[item]).sum(axis=1) / np.sqrt(RANK) + NOISE * rng.normal(size=len(cells))
    all_of_them = (user, item, values)
    return Ratings(*(each[:count] for each in all_of_them)), Ratings(*(each[count:] for each in all_of_them))


def network() -> mx.Symbol:
    """The product of a user's vector and an item's, with the squared error as its loss."""
    user = mx.sym.Embedding(mx.sym.Variable("user"), input_dim=USERS, output_dim=RANK, name="users")
    item = mx.sym.Embedding(mx.sym.Variable("item"), input_dim=ITEMS, output_dim=RANK, name="items")
    guess = mx.sym.sum(user * item, axis=1)
    return mx.sym.LinearRegressionOutput(guess, mx.sym.Variable("rating"), name="guess")


def train(epochs: int = 30, quick: bool = False) -> float:
    """The root of the mean squared error of held-out ratings."""
    known, held_out = made_up(BATCH if quick else 20_000)
    mx.random.seed(0)
    module = mx.mod.Module(network(), data_names=["user", "item"], label_names=["rating"])
    module.fit(
        known.batches(shuffle=True),
        num_epoch=1 if quick else epochs,
        eval_metric="rmse",
        initializer=mx.init.Normal(0.3),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.02, "rescale_grad": 1.0 / BATCH, "wd": 1e-5},
    )
    return float(dict(module.score(held_out.batches(), "rmse"))["rmse"])


def main() -> None:
    """Train as the command line says."""
    options = read_options(__doc__, epochs=30)
    print(f"held-out error {train(options.epochs, options.quick):.3f}, noise in the ratings {NOISE:.3f}")


if __name__ == "__main__":
    main()
