"""js.conform names what is wrong with an implementation of a hyper-connection."""

import unittest

import numpy as np

import jacobian_spectra as js
import support


def connection(transposed=True, twice=True, epsilon=1e-6, order=("pre", "post", "mixer"), dtype=np.float64):
    """DeepSeek-V4's connection in NumPy, with what can be wrong in it."""

    def code(fn, base, scale, x, branch):
        fn, base, scale, x, branch = (np.asarray(a, dtype=dtype) for a in (fn, base, scale, x, branch))
        tokens, n, _ = x.shape
        flat = x.reshape(tokens, -1)
        seen = flat / np.sqrt(np.mean(flat * flat, axis=1, keepdims=True) + dtype(1e-6))
        mixes, raw, begin = seen @ fn.T, {}, 0
        for name in order:
            size = n * n if name == "mixer" else n
            which = ("pre", "post", "mixer").index(name)
            raw[name] = scale[which] * mixes[:, begin:begin + size] + base[begin:begin + size]
            begin += size
        pre = 1 / (1 + np.exp(-raw["pre"])) + dtype(epsilon)
        post = dtype(2 if twice else 1) / (1 + np.exp(-raw["post"]))
        m = raw["mixer"].reshape(tokens, n, n)
        m = np.exp(m - m.max(axis=2, keepdims=True))
        m = m / m.sum(axis=2, keepdims=True) + dtype(1e-6)
        for k in range(39):
            m = m / (m.sum(axis=1 if k % 2 == 0 else 2, keepdims=True) + dtype(1e-6))
        acting = m.transpose(0, 2, 1) if transposed else m
        return pre, m, post, acting @ x + post[:, :, None] * branch[:, None, :]

    return code


class Conform(unittest.TestCase):
    def test_the_same_code_conforms_in_double_and_in_single_precision(self):
        for dtype in (np.float64, np.float32):
            found = js.conform(connection(), connection(dtype=dtype))
            self.assertTrue(found, found.findings)
            self.assertEqual(found.scheme, "DeepSeek-V4")
            self.assertEqual(set(found.differences), {"pre", "mixer", "post", "output"})

    def test_mistakes_are_named(self):
        for words, wrong in (("the mixer is transposed", connection(transposed=False)),
                             ("factor 2 of post is missing", connection(twice=False)),
                             ("epsilon of pre is missing", connection(epsilon=0)),
                             ("the slices are in the wrong order", connection(order=("post", "pre", "mixer")))):
            found = js.conform(connection(), wrong)
            self.assertFalse(found)
            self.assertEqual(len(found.findings), 1, found.findings)
            self.assertIn(words, found.findings[0])
        self.assertIn("unknown: ", js.conform(connection(), connection(epsilon=0.01)).findings[0])

    def test_results_may_be_a_dict(self):
        def named(**numbers):
            return dict(zip(("pre", "mixer", "post", "output"), connection()(**numbers)))

        self.assertTrue(js.conform(connection(), named))

    def test_what_cannot_be_compared_is_a_value_error_of_one_line(self):
        for wrong in (lambda **numbers: (1, 2), lambda **numbers: connection()(**numbers)[:3],
                      lambda **numbers: tuple(a[:1] for a in connection()(**numbers))):
            with self.assertRaises(ValueError) as caught:
                js.conform(connection(), wrong)
            self.assertNotIn("\n", str(caught.exception))

    @unittest.skipUnless(support.has("torch"), "no Torch")
    def test_torch_tensors_go_in_and_out(self):
        import torch

        def code(**numbers):
            self.assertTrue(all(isinstance(v, torch.Tensor) for v in numbers.values()))
            found = connection(dtype=np.float32)(**{k: v.numpy() for k, v in numbers.items()})
            return tuple(torch.from_numpy(np.ascontiguousarray(a)) for a in found)

        self.assertTrue(js.conform(connection(), lambda **n: code(**{k: torch.as_tensor(v) for k, v in n.items()})))
        self.assertTrue(js.conform(code, code, like=torch.from_numpy))

        def rounded(**numbers):
            pre, mixer, post, _ = code(**numbers)
            mixer = mixer.bfloat16()
            output = mixer.float().transpose(1, 2) @ numbers["x"] + post[:, :, None] * numbers["branch"][:, None, :]
            return pre, mixer, post, output

        self.assertEqual(js.conform(code, rounded, like=torch.from_numpy).findings, ("mixers are in bfloat16",))


if __name__ == "__main__":
    support.main()
