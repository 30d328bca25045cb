"""The monitor: its numbers are validate()'s, and its time stays within its budget."""

import json
import math
import unittest
from unittest import mock

import numpy as np

import support

if support.has("torch"):
    import torch
    from torch.nn import functional as F

    import jacobian_spectra as js
    import lookalikes as la
    from jacobian_spectra.probes import Probing, Unattended, law_of, probe
    from jacobian_spectra.still import still


class Monitored(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.model = la.GPT2LMHeadModel(layers=2, width=32, words=32)
        self.ids = torch.randint(0, 32, (16, 16))
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def train(self):
        self.optimiser.zero_grad()
        F.cross_entropy(self.model(self.ids)["logits"].flatten(0, 1), self.ids.flatten()).backward()
        self.optimiser.step()

    def test_numbers_are_those_of_validate(self):
        monitor = js.Monitor(self.model, self.ids, every=2, probes=3, steps=12)
        found = monitor(0)
        report = js.validate(self.model, self.ids, at_most=1, method="probes", connections=False, probes=3, steps=12,
                             error=0.0, extremes=0.0, precision="model")
        for name in ("window", "collapsed", "mean_square", "log_mean", "largest", "effective_rank"):
            self.assertEqual(found["jacobian/" + name], report.measured.metrics[name])
        self.assertEqual(monitor(1), {})
        json.dumps(found)  # plain numbers, for any logger
        self.assertIn("1 measured", repr(monitor))

    def test_converges_to_the_exact_metrics(self):
        exact = js.validate(self.model, self.ids, at_most=1, connections=False).measured.metrics
        found = js.Monitor(self.model, self.ids, probes=32, steps=32, precision="f64")(0)
        self.assertAlmostEqual(found["jacobian/mean_square"], exact.mean_square, delta=0.05)
        self.assertAlmostEqual(found["jacobian/largest"], exact.largest, delta=1e-6)

    def test_training_is_the_same_with_it(self):
        def losses(monitored):
            self.setUp()
            monitor = js.Monitor(self.model, self.ids, every=1, budget=None)
            out = []
            for step in range(3):
                self.train()
                if monitored:
                    monitor(step)
                with torch.no_grad():
                    out.append(float(self.model(self.ids)["logits"].sum()))
            return out
        self.assertEqual(losses(False), losses(True))

    def test_keeps_its_budget(self):
        clock = Clock()
        with mock.patch("jacobian_spectra.monitor.time", clock):
            monitor = js.Monitor(self.model, self.ids, every=1, budget=0.25)
            measure = monitor.report

            def slow():
                clock.now += 4
                return measure()

            monitor.report = slow
            for step in range(60):
                monitor(step)
                clock.now += 1
        self.assertLessEqual(monitor.seconds, 0.25 * clock.now + 4)
        self.assertGreaterEqual(monitor.seconds, 0.25 * clock.now - 4)
        self.assertEqual(monitor.measured + monitor.left_out, 60)


    def test_returns_what_is_measured_beside_training_when_it_is_there(self):
        with mock.patch("jacobian_spectra.monitor.can_be_captured", lambda plan: True), \
                mock.patch("jacobian_spectra.monitor.Captured", Beside):
            monitor = js.Monitor(self.model, self.ids, every=4, budget=None)
            found, expected = {}, {}
            for step in range(16):
                self.train()
                if step in (8, 12):
                    expected[step] = monitor.report().measured.metrics.log_mean
                found[step] = monitor(step)
        self.assertEqual([step for step in range(16) if found[step]], [0, 4, 10, 14])  # two calls later
        for step in expected:
            self.assertEqual(found[step + 2]["jacobian/step"], step)
            self.assertEqual(found[step + 2]["jacobian/log_mean"], expected[step])
        self.assertEqual(monitor.measured, 4)
        self.assertEqual(monitor.finish(), {})
        self.train()
        monitor(16)
        self.assertEqual(monitor.finish()["jacobian/step"], 16)
        monitor.wait = True
        self.assertEqual(monitor(20)["jacobian/step"], 20)

    def test_a_model_that_diverged_has_no_numbers(self):
        monitor = js.Monitor(self.model, self.ids, every=1, budget=None)
        monitor(0)
        with torch.no_grad():
            self.model.transformer.h[0].mlp[0].weight.fill_(float("nan"))
        found = monitor(1)
        self.assertEqual(found["jacobian/step"], 1)
        self.assertTrue(math.isnan(found["jacobian/largest"]))
        for options in ({}, {"method": "probes"}, {"check": False}):
            with self.assertRaisesRegex(ValueError, "the model gives infinities or NaN at this input"):
                js.validate(self.model, self.ids, at_most=1, **options)

    def test_nothing_is_returned_of_a_model_that_graphs_did_not_follow(self):
        with mock.patch("jacobian_spectra.monitor.can_be_captured", lambda plan: True), \
                mock.patch("jacobian_spectra.monitor.Captured", Beside):
            monitor = js.Monitor(self.model, self.ids, every=1, budget=None, wait=True)
            for step in range(4):
                monitor(step)
            monitor._graphs.other = True
            monitor.wait = False
            monitor(4)
            with self.assertWarnsRegex(UserWarning, "otherwise than by its weights"):
                self.assertEqual(monitor.finish(), {})
            self.assertEqual(monitor(5)["jacobian/step"], 5)  # by the model itself
            monitor.wait = True
            monitor(6)
            monitor._graphs.other = True
            with self.assertWarnsRegex(UserWarning, "otherwise than by its weights"):
                self.assertEqual(monitor(7)["jacobian/step"], 7)  # likewise


class Beside:
    """Graphs that measure the model as it was when they were begun, and are done two calls later."""

    def __init__(self, plan):
        self.plan, self.calls, self.other = plan, 0, False

    def unchanged(self):
        return True

    def begin(self, compare):
        self.calls = 0
        with still(self.plan.model, self.plan.widened):
            self.metrics = self.plan.make().measure(0, 1).probed["metrics"]

    def done(self):
        self.calls += 1
        return self.calls >= 2

    def finish(self):
        return None if self.other else {"metrics": self.metrics}


class Matrix:
    """A matrix as an operator."""

    def __init__(self, a):
        self.x = self.y = self.a = torch.from_numpy(a)
        self.outputs, self.inputs = a.shape

    def push(self, v):
        return v @ self.a.T

    def pull(self, u):
        return u @ self.a


class UnattendedSteps(unittest.TestCase):
    """Steps that wait for no number find what the library's do."""

    def law(self, operator, options):
        chains = Unattended(operator, options)
        for _ in range(2):  # the second time as the first
            chains.start()
            for _ in range(chains.steps):
                chains.step(operator)
        return law_of(chains.norms.numpy(), operator, options)

    def test_of_matrices(self):
        rng = np.random.default_rng(1)
        square, low = rng.standard_normal((40, 40)), rng.standard_normal((40, 3)) @ rng.standard_normal((3, 40))
        for name, a in {"square": square, "wide": square[:20], "tall": square[:, :20], "rank 3": low,
                        "identity": np.eye(40), "nought": np.zeros((40, 40))}.items():
            for probes, steps in ((1, 10), (3, 40), (12, 100)):
                with self.subTest(name, probes=probes, steps=steps):
                    options = Probing(probes, steps, error=0.0, extremes=0.0)
                    found, expected = self.law(Matrix(a), options), probe(Matrix(a), options)
                    self.assertEqual((found["probes"], found["steps"]), (expected["probes"], expected["steps"]))
                    for key, value in expected["metrics"].items():
                        np.testing.assert_allclose(found["metrics"][key], value, rtol=1e-9, atol=1e-12, err_msg=key)


@unittest.skipUnless(support.has("torch") and torch.cuda.is_available(), "no GPU")
class ReplayedOnGpu(unittest.TestCase):
    """Measurements by CUDA graphs are those of the model as it is."""

    def setUp(self):
        torch.manual_seed(1)
        self.model = la.GPT2LMHeadModel(layers=3, width=32, words=32).cuda()
        self.ids = torch.randint(0, 32, (16, 16)).cuda()
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    train = Monitored.train

    def compare(self, monitor, step, recorded=True):
        found = monitor(step)
        self.assertEqual(found["jacobian/step"], step)
        self.assertEqual(monitor._graphs is not None, recorded)
        metrics = monitor.report().measured.metrics
        for name in ("window", "collapsed", "mean_square", "log_mean", "largest", "effective_rank"):
            self.assertAlmostEqual(found["jacobian/" + name], metrics[name], delta=1e-4 * max(1, abs(metrics[name])))

    def recorded(self, **options):
        monitor = js.Monitor(self.model, self.ids, **{"every": 1, "budget": None, "wait": True, **options})
        monitor(0)
        monitor(0)
        self.assertIsNotNone(monitor._graphs)
        return monitor

    def test_follows_training(self):
        for options in ({}, {"probes": 3, "steps": 12}, {"precision": "f64"}, {"token": "all"}):
            with self.subTest(**options):
                self.setUp()
                monitor = self.recorded(**options)
                for step in range(2, 6):
                    self.train()
                    self.compare(monitor, step)

    def test_follows_buffers(self):
        self.model.register_buffer("scale", torch.ones(1, device="cuda"))
        embedding = self.model.transformer.wte
        embedding.register_forward_hook(lambda module, args, out: out * self.model.scale)
        monitor = self.recorded()
        self.model.scale.mul_(2)
        self.compare(monitor, 2)

    def test_is_recorded_again_where_a_setting_changes(self):
        self.model.transformer.temperature = 1.0
        embedding = self.model.transformer.wte
        embedding.register_forward_hook(lambda module, args, out: out * self.model.transformer.temperature)
        monitor = self.recorded()
        before = monitor._graphs
        self.model.transformer.temperature = 2.0
        self.compare(monitor, 2)
        self.assertIsNot(monitor._graphs, before)
        before = monitor._graphs
        for parameter in self.model.parameters():  # the same parameters, elsewhere
            parameter.data = parameter.data * 1.1
        self.compare(monitor, 3)
        self.assertIs(monitor._graphs, before)
        self.model.transformer.wte.weight = torch.nn.Parameter(self.model.transformer.wte.weight.detach() * 1.1)
        self.compare(monitor, 4)
        self.assertIsNot(monitor._graphs, before)

    def test_measures_beside_training(self):
        monitor = self.recorded(every=10, wait=False)
        found, expected = {}, {}
        for step in range(20, 80):
            self.train()
            if step % 10 == 0:
                expected[step] = monitor.report().measured.metrics
            found.update({one["jacobian/step"]: one for one in [monitor(step)] if one})
        last = monitor.finish()
        found.update({last["jacobian/step"]: last} if last else {})
        self.assertEqual(sorted(found), sorted(expected))
        for step, metrics in expected.items():
            for name in ("window", "collapsed", "mean_square", "log_mean", "largest", "effective_rank"):
                self.assertAlmostEqual(found[step]["jacobian/" + name], metrics[name],
                                       delta=1e-4 * max(1, abs(metrics[name])))

    def test_notices_a_change_from_elsewhere(self):
        factor = [1.0]
        self.model.transformer.wte.register_forward_hook(lambda module, args, out: out * factor[0])
        monitor = self.recorded()
        self.compare(monitor, 2)
        factor[0] = 3.0
        with self.assertWarnsRegex(UserWarning, "otherwise than by its weights"):
            for step in range(3, 11):
                monitor(step)
        self.compare(monitor, 11)

    def test_a_model_that_diverged_has_no_numbers(self):
        monitor = self.recorded()
        with torch.no_grad():
            weight = self.model.transformer.h[0].mlp[0].weight
            kept = weight.clone()
            weight.fill_(float("nan"))
        self.assertTrue(math.isnan(monitor(2)["jacobian/largest"]))
        with torch.no_grad():
            weight.copy_(kept)
        self.compare(monitor, 3)

    def test_a_model_that_waits_for_numbers_is_measured_as_it_is(self):
        embedding = self.model.transformer.wte
        embedding.register_forward_hook(lambda module, args, out: out * (2.0 if out.sum().item() > 0 else 1.5))
        monitor = js.Monitor(self.model, self.ids, every=1, budget=None)
        for step in range(4):
            self.train()
            self.compare(monitor, step, recorded=False)

    def test_training_is_the_same_with_it(self):
        def losses(monitored):
            self.setUp()
            monitor = js.Monitor(self.model, self.ids, every=1, budget=None)
            out = []
            for step in range(5):
                self.train()
                if monitored:
                    monitor(step)
                with torch.no_grad():
                    out.append(float(self.model(self.ids)["logits"].sum()))
            return out
        self.assertEqual(losses(False), losses(True))


class Clock:
    """Seconds that pass only where the test says so."""

    now = 0.0

    def perf_counter(self):
        return self.now


if __name__ == "__main__":
    support.main(needs=["torch"])
