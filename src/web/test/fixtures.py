#!/usr/bin/env python3
"""Result files that no quick command writes: fixtures.py FOLDER

From FOLDER/grid.h5, which spectra sweep wrote: sweep1000.h5, a thousand networks.
training.h5, a training run; validation1000.h5, a validation of a thousand connections; aligned.h5, one of a model with
aligned layers; hostile.h5, text that would be markup.
"""

import sys

import h5py
import numpy as np

folder = sys.argv[1]
root = {"format": "jacobian-spectra", "format_version": np.int64(1), "program_version": "0.1.0", "git": "test",
        "command": "spectra test", "created": "2024-05-06T07:08:09Z", "seed": np.uint64(7), "settings": "{}"}


def create(name):
    file = h5py.File(f"{folder}/{name}.h5", "w")
    for key, value in root.items():
        file.attrs[key] = value
    return file


def set_all(group, attributes):
    for key, value in attributes.items():
        group.attrs[key] = value


with create("sweep1000") as file, h5py.File(f"{folder}/grid.h5", "r") as grid:
    source = list(grid["runs"])
    names = []
    file.create_group("runs")
    for k in range(1000):
        name = f"{source[k % len(source)]}-copy{k:04d}"
        names.append(name)
        grid.copy(grid["runs"][source[k % len(source)]], file["runs"], name)
        run = file["runs"][name]
        run.attrs["seed"] = np.uint64(k)
    file["summary"] = np.array([(n.encode(),) for n in names], dtype=[("name", "S80")])

with create("training") as file:
    rows, places = 40, 12
    steps = np.arange(rows) * 50.0
    training = file.create_group("training")
    set_all(training, {"task": "gyroscope", "architecture": "edelta", "model": "6 blocks", "device": "cpu",
                       "parameters": np.int64(36870), "steps": np.int64(1950), "batch": np.int64(64), "seconds": 12.5,
                       "final_val_loss": 0.00125, "gate": 0.25, "baseline_copy": 0.0123, "baseline_zero": 0.0625,
                       "baseline_noise_floor": 4.5e-05})
    training["step"] = steps
    training["loss"] = 0.05 * np.exp(-steps / 400) + 0.0011
    training["val_loss"] = 0.05 * np.exp(-steps / 400) + 0.00125
    training["learning_rate"] = 1e-3 * np.cos(steps / 1950 * np.pi / 2)
    training["gradient_norm"] = 0.3 * np.exp(-steps / 600) + 0.01
    diagnostics = training.create_group("diagnostics")
    along = np.linspace(0, 1, places)
    diagnostics["gate"] = 0.5 + 0.4 * np.outer(np.tanh(steps / 500), along - 0.5)
    diagnostics["effective_rank"] = 1 - 0.3 * np.outer(np.tanh(steps / 800), along)

with create("validation1000") as file:
    count, n = 1000, 4
    random = np.random.default_rng(5)
    trained = file.create_group("trained")
    set_all(trained, {"file": "deep.ckpt", "layout": "spectra", "model": "mhc, 500 blocks", "verdict": "FAIL",
                      "reasons": "window is 0.41; required window >= 0.9\ncollapsed is 0.31; required collapsed <= 0.05",
                      "requirements": "window >= 0.9, collapsed <= 0.05, largest <= 2", "step": np.int64(2000),
                      "measured": "1 input, N = 256"})
    mixers = np.eye(n) + 0.0005 * random.standard_normal((count, n, n))
    mixers[600] = np.eye(n) * 0.02 + 0.245  # the worst: three directions are left with a fiftieth
    products = []
    for mixer in mixers:
        products.append(mixer @ (products[-1] if products else np.eye(n)))
    trained["mixers"], trained["composite_products"] = mixers, np.array(products)
    for name in ("pre", "post", "row_sums", "column_sums"):
        trained[name] = np.ones((count, n))
    norms = np.linalg.norm(mixers, 2, axis=(1, 2))
    trained["spectral_norms"] = norms
    trained["composite_spectral_norms"] = np.linalg.norm(np.array(products), 2, axis=(1, 2))
    trained["orthogonality_defects"] = np.abs(mixers.transpose(0, 2, 1) @ mixers - np.eye(n)).max(axis=(1, 2))
    trained["identity_distances"] = np.abs(mixers - np.eye(n)).max(axis=(1, 2))
    variance = np.full(count, 1e-4)
    variance[411] = 0.05  # the loudest branch
    trained["branch_variance"], trained["branch_core_variance"] = variance, variance
    trained["branch_mixer_share"] = np.zeros(count)
    trained["layer_wasserstein1"] = np.full(count, 1e-3)
    trained["layer_singular_values"] = np.sort(1 + 0.05 * random.standard_normal((count, 64)), axis=1)
    values = np.sort(np.concatenate([random.normal(0, 0.3, 177), random.normal(-6, 1, 79)]))[None, :]
    trained["jacobian_log_singular_values"], trained["jacobian_singular_values"] = values, np.exp(values)
    measured = {"mean_square": 1.2, "log_mean": -1.9, "window": 0.41, "collapsed": 0.31, "smallest": 0.0005, "largest": 1.9,
                "effective_rank": 0.62}
    set_all(file.create_group("metrics/measured"), measured)
    set_all(trained.create_group("predictions/mixers"), {**measured, "collapsed": 0.75, "wasserstein1": 0.3,
                                                         "certified": np.int64(1), "doubt": ""})
    set_all(trained.create_group("predictions/full"), {**measured, "wasserstein1": 0.2, "certified": np.int64(1), "doubt": ""})

with create("aligned") as file:
    count, n = 16, 4
    random = np.random.default_rng(6)
    trained = file.create_group("trained")
    set_all(trained, {"file": "stack.ckpt", "layout": "spectra", "model": "cayley, 8 blocks", "verdict": "PASS",
                      "reasons": "", "requirements": "window >= 0.2", "step": np.int64(2000), "measured": "2 inputs, N = 512"})
    trained["mixers"] = np.eye(n) + 0.01 * random.standard_normal((count, n, n))
    values = np.sort(random.normal(0, 0.4, 512))[None, :]
    trained["jacobian_log_singular_values"], trained["jacobian_singular_values"] = values, np.exp(values)
    set_all(file.create_group("metrics/measured"), {"mean_square": 1.4, "log_mean": 0.0, "window": 0.5, "collapsed": 0.0,
                                                    "smallest": 0.2, "largest": 6.4, "effective_rank": 0.8})
    alignment = trained.create_group("alignment")
    set_all(alignment, {"explain": 0.02, "width": np.int64(128), "rank": np.int64(4), "theory_distance": 0.0213,
                        "theory_certified": np.int64(1), "theory_doubt": ""})
    alignment["ranks"], alignment["draws"] = np.array([0.0, 1, 2, 4]), np.full(4, 24.0)
    alignment["distances"] = np.array([0.0321, 0.0284, 0.0233, 0.0197])
    alignment["distance_errors"] = np.array([0.0008, 0.0007, 0.0006, 0.0005])
    alignment["largest"] = np.array([3.3, 4.3, 5.1, 6.0])
    alignment["leading_connection"], alignment["leading_triplet"] = np.array([10.0, 3, 5, 4]), np.array([1.0, 2, 3, 1])
    alignment["leading_value"] = np.array([3.25, 1.5, 0.75, 0.1])
    alignment["leading_elasticity"] = np.array([0.3123456789012345, 0.12, -0.0625, 0.02])
    overlaps = np.tril(random.uniform(0, 0.1, (count, count)), -1)
    overlaps[9, 2] = 0.62
    alignment["overlaps"] = overlaps[None]

with create("hostile") as file:
    tag = "</script><script>window.hurt=1</script><img src=x onerror=\"window.hurt=2\">'\""
    figure = file.create_group("figure")
    set_all(figure, {"title": tag, "name": tag, "caption": tag + "\n" + "A" * 60000, "points": np.int64(3), "uncertified": np.int64(1)})
    figure.attrs["<b>number</b>"] = 1.5
    panel = figure.create_group("panel-1")
    set_all(panel, {"heading": tag, "x_label": tag, "y_label": tag, "x_scale": "log10", "y_scale": "log10"})
    series = panel.create_group("<script>window.hurt=3</script>")
    set_all(series, {"label": tag, "mark": tag})
    series["x"], series["y"] = np.array([0.0, 1.0, np.nan, -900.0]), np.array([np.nan, -800.0, 3.0, np.inf])
    file.attrs["command"] = tag + "\u2028\u202e" + "x" * 5
    training = file.create_group("training")
    set_all(training, {"task": tag, "architecture": "=1+1", "model": "javascript:alert(1)", "final_val_loss": np.nan})
    training["step"], training["loss"] = np.array([0.0, np.nan]), np.array([np.nan, np.inf])
    training.create_dataset("diagnostics/__proto__", data=np.ones((2, 3)))
    training.create_dataset("diagnostics/" + "d" * 5000, data=np.ones((2, 3)))
    set_all(file.create_group("network"), {"title": tag, "mixer": tag, "streams": np.int64(4), "width": np.int64(5), "depth": np.int64(2)})
    file["network/mixers"] = np.full((2, 4, 4), 1e308)
    file["network/sigma2"] = np.array([np.nan, np.inf])
    set_all(file.create_group("metrics/ov"), {"window": np.nan, "collapsed": -5.0})
    huge = file.create_group("trained")
    huge.attrs.create("reasons", "R" * (10 << 20), dtype=h5py.string_dtype())
    huge.attrs.create("model", "M" * (10 << 20), dtype=h5py.string_dtype())
    huge.attrs["verdict"] = tag
