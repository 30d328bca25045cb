#!/usr/bin/env python3
"""Writes data/tasks/*.json with NumPy: python3 tests/tasks/reference.py data/tasks

numpy_legacy.json  calls of numpy.random's legacy functions and what they returned, in order
first_values.json  states of the tasks before they are rounded to float, by full matrix products
baselines.json     mean square errors of predictors without parameters on each split, after rounding

The tests read the files; they need no Python. Written with NumPy 1.24.2.
"""

import json
import pathlib
import sys

import numpy as np

SOURCE = f"NumPy {np.__version__}, tests/tasks/reference.py"


def call(name, count=1, **arguments):
    """`count` calls of numpy.random.<name>, as the file holds them."""
    if name == "randn":
        values = np.random.randn(count)
    elif name == "random_sample":
        values = np.random.random_sample(count)
    elif name == "uniform":
        values = np.random.uniform(arguments["low"], arguments["high"], count)
    else:
        # One by one: that is how the tasks draw.
        values = [np.random.randint(arguments["low"], arguments["high"]) for _ in range(count)]
    return {"call": name, **arguments, "values": [v.item() if hasattr(v, "item") else v for v in values]}


def raw_word():
    """The next 32 bits: says where in its stream the generator stands."""
    return call("randint", low=0, high=2**32)


def legacy_cases():
    ranges = [(0, 1), (0, 2), (0, 15), (3, 16), (15, 16), (0, 32), (-7, 100), (0, 2**31 + 1), (0, 2**32 - 1),
              (0, 2**32), (0, 2**32 + 1), (-5, 2**40), (-(2**63), 2**63 - 1)]
    for seed in (0, 42, 2**32 - 1):
        np.random.seed(seed)
        yield seed, [call("random_sample", 6), raw_word()]
        np.random.seed(seed)
        yield seed, [call("randn", 5), raw_word(), call("randn", 4), raw_word()]
        np.random.seed(seed)
        yield seed, [call("randn", 6), raw_word()]
        np.random.seed(seed)
        yield seed, [call("uniform", 4, low=0.1, high=2.5), call("uniform", 2, low=-3.0, high=-1.0), raw_word()]
        np.random.seed(seed)
        yield seed, [entry for low, high in ranges for entry in (call("randint", 5, low=low, high=high), raw_word())]
        np.random.seed(seed)
        yield seed, [call("randn", 3), call("uniform", 1, low=0.1, high=2.5), call("randint", 2, low=0, high=15),
                     call("randn", 2), call("random_sample", 1), call("randint", 1, low=4, high=5),
                     call("randn", 1), call("randint", 3, low=9, high=16), call("randn", 700),
                     call("random_sample", 2), raw_word()]


def unit_vector(dimension):
    v = np.random.randn(dimension)
    return v / np.linalg.norm(v)


def rotation(dimension, planes, theta):
    matrix = np.eye(dimension)
    for i, j in planes:
        matrix[i, i] = matrix[j, j] = np.cos(theta)
        matrix[i, j] = -np.sin(theta)
        matrix[j, i] = np.sin(theta)
    return matrix


def trajectory(matrix, v, states):
    result = [v]
    for _ in range(states - 1):
        result.append(matrix @ result[-1])
    return np.array(result)


def gyroscope():
    v = unit_vector(16)
    theta = np.random.uniform(0.1, 2.5)
    i = np.random.randint(0, 15)
    j = np.random.randint(i + 1, 16)
    return trajectory(rotation(16, [(i, j)], theta), v, 256)


def stability():
    key = unit_vector(64)
    return np.array([key + np.random.randn(64) * 0.001 for _ in range(128)])


def near_pi(planes, theta):
    matrix = rotation(64, [(2 * p, 2 * p + 1) for p in range(planes)], theta)
    return lambda: trajectory(matrix, unit_vector(64), 128)


def reflection():
    x = np.random.randn(64)
    return np.array([x, -x])


def copy():
    symbols = np.random.randint(0, 32, size=32)
    return np.concatenate([symbols, [32], symbols])


def one_stream(draw, train, validation, seed):
    np.random.seed(seed)
    return [draw() for _ in range(train)], [draw() for _ in range(validation)]


def two_streams(draw, train, validation, seed):
    np.random.seed(seed)
    first = [draw() for _ in range(train)]
    np.random.seed(seed + 1000)
    return first, [draw() for _ in range(validation)]


TASKS = {
    "gyroscope": (one_stream, gyroscope, 9000, 1000),
    "stability": (one_stream, stability, 900, 100),
    "near-pi-single": (two_streams, near_pi(1, 3.10), 1000, 500),
    "near-pi-multi": (two_streams, near_pi(32, 3.14), 1000, 500),
    "reflection": (two_streams, reflection, 500, 500),
    "copy": (two_streams, copy, 5000, 500),
}


def splits(seed):
    for task, (streams, draw, train, validation) in TASKS.items():
        for split, sequences in zip(("train", "validation"), streams(draw, train, validation, seed)):
            yield task, split, sequences


def values(task, split, sequences):
    """Whole states, some of the first and the last sequence of a split; tokens: whole sequences."""
    for index in (0, len(sequences) - 1):
        sequence = sequences[index]
        if task == "copy":
            yield {"task": task, "split": split, "sequence": index, "tokens": sequence.tolist()}
            continue
        for state in sorted({0, 1, len(sequence) - 1}):
            yield {"task": task, "split": split, "sequence": index, "state": state,
                   "values": sequence[state].tolist()}


def baselines(task, split, sequences):
    states = np.array(sequences).astype(np.float32).astype(np.float64)
    x, y = states[:, :-1], states[:, 1:]
    steps = x.shape[1]
    signs = np.where(((y - x) ** 2).sum((0, 1)) < ((y + x) ** 2).sum((0, 1)), 1, -1)
    predictions = {"copy": x, "zero": 0 * x, "plain_negation": -x, "negation": signs * x,
                   "running_mean": np.cumsum(x, 1) / np.arange(1, steps + 1)[:, None]}
    losses = {name: ((y - guess) ** 2).mean() for name, guess in predictions.items()}
    return {"task": task, "split": split, "negated": np.flatnonzero(signs < 0).tolist(), **losses}


def write(path, entries, **head):
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    begin = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    path.write_text("{" + begin + '"entries": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    write(folder / "numpy_legacy.json", ({"seed": seed, "calls": calls} for seed, calls in legacy_cases()),
          source=SOURCE)
    first, losses = [], []
    for task, split, sequences in splits(42):
        first += values(task, split, sequences)
        if task != "copy":
            losses.append(baselines(task, split, sequences))
    write(folder / "first_values.json", first, source=SOURCE, seed=42)
    write(folder / "baselines.json", losses, source=SOURCE, seed=42)
