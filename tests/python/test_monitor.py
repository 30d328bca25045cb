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


class Clock:
    """Seconds that pass only where the test says so."""

    now = 0.0

    def perf_counter(self):
        return self.now


if __name__ == "__main__":
    support.main(needs=["torch"])
