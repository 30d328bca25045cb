"""Theory and simulation: the numbers are the program's, and the objects behave as Python's do."""

import json
import os
import pickle
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import jacobian_spectra as js
import support


def bits(a, b):
    """Equal to the last bit."""
    return np.array_equal(np.asarray(a, dtype=float).view(np.uint64), np.asarray(b, dtype=float).view(np.uint64))


@unittest.skipUnless(support.PROGRAM, "SPECTRA_PROGRAM does not name the program to compare with")
class EqualsTheProgram(unittest.TestCase):
    def compare(self, network, *arguments):
        found, _ = support.run_program("--samples", "6", "--theory", "ov", *arguments)
        law = js.solve(network)
        simulation = js.simulate(network, 6)
        for name, value in found["metrics"]["ov"].items():
            if value is not None:
                self.assertTrue(bits(law.metrics[name], value), (name, value, law.metrics[name]))
        for name, value in found["metrics"]["montecarlo"].items():
            if value is not None:
                self.assertTrue(bits(simulation.metrics[name], value), (name, value, simulation.metrics[name]))
        agreement = found["agreement"]["ov_montecarlo"]
        compared = simulation.compare(law)
        for name in ("wasserstein1", "wasserstein1_log", "kolmogorov_smirnov"):
            self.assertTrue(bits(compared[name], agreement[name]), name)
        self.assertEqual(law.certified, found["theory"]["ov"]["certified"])
        self.assertEqual(found["network"]["title"] if "title" in found["network"] else network.title, network.title)

    def test_drawn_mixers(self):
        self.compare(js.Network(mixer="bistochastic", depth=3, noise=0.1, seed=5), "--mixer", "bistochastic", "--depth",
                     "3", "--noise", "0.1", "--seed", "5")

    def test_hyper_connections(self):
        self.compare(js.Network(mixer="cayley", depth=2, streams=3, branch="hyper-connection", cayley_step=0.3),
                     "--mixer", "cayley", "--depth", "2", "--streams", "3", "--branch", "hyper-connection",
                     "--cayley-step", "0.3")

    def test_activations(self):
        self.compare(js.Network(mixer="orthogonal", depth=2, branch="activation", activation="relu", width=10),
                     "--mixer", "orthogonal", "--depth", "2", "--branch", "activation", "--activation", "relu",
                     "--width", "10")

    @unittest.skipUnless(support.has("h5py"), "this Python has no h5py")
    def test_result_file(self):
        import h5py

        _, theirs = support.run_program("--mixer", "gaussian", "--depth", "2", "--samples", "4", "--theory", "ov")
        network = js.Network(mixer="gaussian", depth=2)
        law, simulation = js.solve(network), js.simulate(network, 4)
        ours = simulation.save(os.path.join(tempfile.mkdtemp(), "ours"), law)
        with h5py.File(theirs) as a, h5py.File(ours) as b:
            for path in ("theory/ov/log_s", "theory/ov/density_log", "theory/ov/g", "theory/ov/cumulative",
                         "montecarlo/log_singular_values", "network/mixers", "network/sigma2"):
                self.assertTrue(bits(a[path][()], b[path][()]), path)
            self.assertTrue(bits(a["theory/ov/density_log"][()], law.curve.density_log))
            self.assertTrue(bits(a["montecarlo/log_singular_values"][()], simulation.log_singular_values))
            self.assertTrue(bits(a["network/mixers"][()], network.mixers))


class Networks(unittest.TestCase):
    def test_aligned_networks_of_a_file_are_pickled(self):
        path = os.path.join(tempfile.mkdtemp(), "aligned.json")
        triplet = {"values": [1.5], "left": [[1.0, 0.0, 0.0]], "right": [[0.0, 0.6, 0.8]]}
        with open(path, "w") as file:
            json.dump({"streams": 1, "width": 3, "depth": 2, "mixers": [[[1.0]], [[1.0]]],
                       "noise": {"kind": "aligned", "triplets": [triplet, triplet], "singular_values": [[0.1, 0.2], [0.3, 0.1]]}},
                      file)
        network = js.Network(model=path)
        again = pickle.loads(pickle.dumps(network))
        self.assertTrue(bits(js.simulate(again, 3).log_singular_values, js.simulate(network, 3).log_singular_values))
        self.assertEqual(js.solve(again).metrics, js.solve(network).metrics)

    def test_arrays_are_mixers(self):
        matrices = js.Network(mixer="orthogonal", depth=3).mixers
        own = js.Network(mixer=matrices, noise=0.05)
        self.assertEqual((own.depth, own.streams, own.mixer), (3, 4, "given"))
        self.assertEqual(js.solve(own).metrics, js.solve(js.Network(mixer="orthogonal", depth=3)).metrics)
        self.assertEqual(js.Network(mixer=np.eye(2), depth=7).depth, 7)

    def test_branch_laws_are_arrays(self):
        law = js.solve(js.Network(mixer=np.eye(2), depth=1, branch_law=[0, 0, 0, 0.6]))
        (atom,) = law.atoms
        self.assertAlmostEqual(atom.place, 1, places=9)
        self.assertAlmostEqual(atom.mass, 0.5, places=9)

    def test_mistakes_are_named(self):
        for wrong, words in (
                (dict(mixer="cayly"), "did you mean 'cayley'"), (dict(), "no network"),
                (dict(mixer="cayley", depth=0), "depth"), (dict(mixer="cayley", depth="ten"), "wrong type"),
                (dict(mixer="cayley", noise=-1.0), "must be a finite number"), (dict(mixer=np.ones(3)), "(n, n)"),
                (dict(mixer=np.eye(3), streams=4), "contradicts"),
                (dict(mixer="cayley", gate=0.5), "only applies to cayley-hybrid"),
                (dict(mixer="cayley", branch_law=[1.0], noise=1.0), "cannot be combined"),
                (dict(mixer="cayley", branch="hyper-connection", pre="some"), "must be mean")):
            with self.subTest(wrong), self.assertRaises(ValueError) as raised:
                js.Network(**wrong)
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))

    def test_other_mistakes(self):
        network = js.Network(mixer="cayley", depth=2)
        for call in (lambda: js.solve(network, theory="exact"), lambda: js.solve("cayley"),
                     lambda: js.solve(network, grid=(2, 1, 5)), lambda: js.simulate(network, 0),
                     lambda: js.simulate(network, device="tpu"), lambda: js.solve(network).compare(3),
                     lambda: js.solve(network).density("x"),
                     lambda: js.simulate(js.Network(mixer=np.eye(2)), 2, redrawn=True)):
            self.assertRaises(ValueError, call)


class Laws(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = js.Network(mixer="cayley", depth=3)
        cls.law = js.solve(cls.network)

    def test_functions_take_arrays_of_any_shape(self):
        s = np.linspace(0.5, 1.5, 6).reshape(2, 3)
        self.assertEqual(self.law.density(s).shape, (2, 3))
        self.assertIsInstance(self.law.density(1.0), float)
        self.assertEqual(self.law.cdf([0.0, 10.0]).tolist(), [0.0, self.law._spectrum.mass])
        q = np.array([0.1, 0.5, 0.9])
        np.testing.assert_allclose(self.law.cdf(self.law.quantile(q)), q, atol=1e-9)
        self.assertEqual(self.law.density(-1.0), 0.0)

    @unittest.skipUnless(support.has("torch"), "this Python has no torch")
    def test_functions_take_tensors(self):
        import torch

        s = torch.linspace(0.5, 1.5, 5, dtype=torch.float64, requires_grad=True)
        np.testing.assert_array_equal(self.law.density(s), self.law.density(s.detach().numpy()))
        self.assertEqual(js.Network(mixer=torch.eye(3), depth=2).streams, 3)

    def test_curve_shares_memory(self):
        curve = self.law.curve
        self.assertFalse(curve.density_log.flags.owndata)
        self.assertFalse(curve.density_log.flags.writeable)
        self.assertTrue(np.shares_memory(curve.density_log, self.law.curve.density_log))
        law = js.solve(self.network)
        density = law.curve.density_log
        del law
        self.assertGreater(density.max(), 0)

    def test_integrates_to_one(self):
        s = np.linspace(*self.law.support[0], 20001)
        density = self.law.density(s)
        self.assertAlmostEqual(float(((density[1:] + density[:-1]) / 2 * np.diff(s)).sum()), 1, places=4)

    def test_certificate(self):
        self.assertTrue(self.law.certificate)
        self.assertTrue(all(check.holds for check in self.law.certificate.checks))

    def test_theories_and_grids(self):
        scalar = js.solve(self.network, theory="scalar", grid=(0.1, 2, 11), eta=0.01)
        self.assertEqual((scalar.theory, len(scalar.curve)), ("scalar", 11))

    def test_pickles(self):
        simulation = js.simulate(self.network, 3)
        counted = js.simulate(self.network, 3, keep="histogram")
        for one in (self.network, self.law, simulation, counted, self.law.metrics, self.law.certificate):
            again = pickle.loads(pickle.dumps(one))
            self.assertEqual(repr(again), repr(one))
            if hasattr(one, "metrics"):
                self.assertEqual(again.metrics, one.metrics)
        again = pickle.loads(pickle.dumps(self.network))
        self.assertEqual(js.solve(again).metrics, self.law.metrics)
        self.assertTrue(bits(js.simulate(again, 3).log_singular_values, simulation.log_singular_values))

    @unittest.skipUnless(support.has_gnuplot(), "gnuplot is not installed")
    def test_figures(self):
        path = os.path.join(tempfile.mkdtemp(), "law.svg")
        self.assertGreater(os.path.getsize(self.law.plot().save(path)), 1000)
        self.assertEqual(self.law.plot()._repr_png_()[:4], b"\x89PNG")

    def test_pages(self):
        self.assertIn("share in [0.75, 1.25]", self.law.page())

    def test_files_are_not_replaced(self):
        path = os.path.join(tempfile.mkdtemp(), "law.h5")
        self.assertEqual(self.law.save(path), path)
        self.law.save(path)  # its own
        with open(path, "w", encoding="utf-8") as file:
            file.write("something else")
        self.assertRaises(ValueError, self.law.save, path)
        self.law.save(path, force=True)


class Computing(unittest.TestCase):
    def test_results_do_not_depend_on_threads(self):
        network = js.Network(mixer="cayley", depth=3, width=8)
        one, two = (js.simulate(network, 6, threads=threads) for threads in (1, 2))
        self.assertTrue(bits(one.log_singular_values, two.log_singular_values))

    def test_gpu_or_the_reason_why_not(self):
        network = js.Network(mixer="cayley", depth=3)
        try:
            found = js.simulate(network, 4, device="cuda")
        except RuntimeError as error:
            print(f"(no GPU: {error})", end=" ")
            self.assertIn("`device` cuda", str(error))
            return
        self.assertIn("cuda", found.device)
        expected = js.simulate(network, 4, device="cpu").log_singular_values
        np.testing.assert_allclose(found.log_singular_values, expected, atol=1e-10)

    def test_python_goes_on_meanwhile(self):
        network = js.Network(mixer="cayley", depth=10, streams=8)
        ticks, done = [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(1)
                time.sleep(0.01)

        other = threading.Thread(target=tick)
        other.start()
        while len(ticks) < 1:
            time.sleep(0.001)
        before, samples = len(ticks), 10
        while len(ticks) < before + 3 and samples < 100000:  # as many as this machine needs to take some time
            before = len(ticks)
            js.simulate(network, samples, threads=1)
            samples *= 4
        done.set()
        other.join()
        self.assertGreaterEqual(len(ticks), before + 3)

    def test_interrupt(self):
        slow, long = js.Network(mixer="gaussian", depth=40, streams=12), js.Network(mixer="cayley", depth=5)
        for compute in (lambda: js.solve(slow), lambda: js.simulate(long, 1000000, threads=1)):
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                compute()
            self.assertLess(time.monotonic() - begin, 20)


if __name__ == "__main__":
    support.main(needs=["numpy"])
