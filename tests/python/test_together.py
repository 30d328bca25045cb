"""The package and Torch in one process: both orders of importing, one OpenMP, BLAS threads left alone; no Torch without
need; types and docstrings everywhere."""

import inspect
import os
import subprocess
import sys
import unittest

import jacobian_spectra as js
import support

WORK = """
law = js.solve(js.Network(mixer="cayley", depth=3))
x = torch.randn(64, 64, dtype=torch.float64)
before = torch.get_num_threads()
simulation = js.simulate(js.Network(mixer="cayley", depth=3), 4, threads=2)
assert torch.get_num_threads() == before
assert torch.allclose(x @ torch.linalg.inv(x), torch.eye(64, dtype=torch.float64), atol=1e-6)
torch.nn.functional.linear(x, x).sum()
assert law.certified
print(law.metrics.window, simulation.metrics.window)
"""


class Together(unittest.TestCase):
    def run_code(self, code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @unittest.skipUnless(support.has("torch"), "this Python has no torch")
    def test_both_orders_of_importing(self):
        first = self.run_code("import torch\nimport jacobian_spectra as js\n" + WORK)
        second = self.run_code("import jacobian_spectra as js\njs.solve(js.Network(mixer='cayley', depth=2))\n"
                               "import torch\n" + WORK)
        self.assertEqual(first, second)

    def test_torch_is_not_imported_without_need(self):
        self.run_code("import sys, jacobian_spectra as js\njs.solve(js.Network(mixer='cayley', depth=2))\n"
                      "assert 'torch' not in sys.modules")

    def test_everything_is_documented(self):
        names = js.__all__ if support.has("torch") else [n for n in js.__all__ if n not in js._LATER]
        for name in names:
            thing = getattr(js, name)
            self.assertTrue(inspect.getdoc(thing), name)
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                public = not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
                if public and member not in ("keys",):
                    self.assertTrue(inspect.getdoc(value), f"{name}.{member}")

    def test_stub_names_what_is_there(self):
        folder = os.path.dirname(js.__file__)
        with open(os.path.join(folder, "_core.pyi"), encoding="utf-8") as file:
            stub = file.read()
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        for name in dir(js._core):
            if not name.startswith("_"):
                self.assertTrue(f"def {name}(" in stub or f"class {name}" in stub or f"{name}:" in stub, name)


if __name__ == "__main__":
    support.main(needs=["numpy"])
