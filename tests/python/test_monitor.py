"""The monitor: its numbers are validate()'s, and its time stays within its budget."""

import json
import unittest
from unittest import mock

import support

if support.has("torch"):
    import torch
    from torch.nn import functional as F

    import jacobian_spectra as js
    import lookalikes as la


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
        self.assertEqual(monitor._graphs is not None, recorded)
        metrics = monitor.report().measured.metrics
        for name in ("window", "collapsed", "mean_square", "log_mean", "largest", "effective_rank"):
            self.assertAlmostEqual(found["jacobian/" + name], metrics[name], delta=1e-4 * max(1, abs(metrics[name])))

    def recorded(self, **options):
        monitor = js.Monitor(self.model, self.ids, every=1, budget=None, **options)
        monitor(0)
        monitor(1)
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
        for parameter in self.model.parameters():  # other tensors in place of those that were recorded
            parameter.data = parameter.data * 1.1
        before = monitor._graphs
        self.compare(monitor, 3)
        self.assertIsNot(monitor._graphs, before)

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
