"""The models of transformers and torchvision themselves, with random weights, against torch.func: singular values to
1e-9 of the largest in double precision, and the times of both. Run where these packages are installed.

    PYTHONPATH=build/release/python python3 tests/python/test_real_models.py
"""

import os
import time
import unittest

import support

DEVICE = os.environ.get("SPECTRA_TEST_DEVICE", "cpu")

if support.has("torch"):
    import numpy as np
    import torch
    from torch import nn

    import jacobian_spectra as js


def functional_values(model, boundary, inputs, token, axis=1):
    """Singular values by torch.func.jacrev of the model as it is: hooks replace the state that enters the first block
    and catch the one that leaves the last. `boundary`: these two modules."""
    from torch.func import jacrev

    first, last = boundary
    seen = {}

    class Done(Exception):
        pass

    def record(module, args, kwargs):
        seen["state"] = (args[0] if args else kwargs["hidden_states"]).detach()

    handle = first.register_forward_pre_hook(record, with_kwargs=True)
    with torch.no_grad():
        model(**inputs)
    handle.remove()
    state = seen["state"]

    def f(part):
        if token is None:
            x = part.reshape(state.shape)
        else:
            x = torch.cat([state.narrow(axis, 0, token), part.reshape(state.narrow(axis, token, 1).shape),
                           state.narrow(axis, token + 1, state.shape[axis] - token - 1)], axis)
        out = {}

        def enter(module, args, kwargs):
            return ((x, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": x})

        def leave(module, args, result):
            out["y"] = result[0] if isinstance(result, tuple) else result
            raise Done

        hooks = [first.register_forward_pre_hook(enter, with_kwargs=True), last.register_forward_hook(leave)]
        try:
            model(**inputs)
        except Done:
            pass
        finally:
            for hook in hooks:
                hook.remove()
        y = out["y"]
        return (y if token is None else y.narrow(axis, token, 1)).reshape(-1)

    x = (state if token is None else state.narrow(axis, token, 1)).reshape(-1)
    return np.sort(torch.linalg.svdvals(jacrev(f, chunk_size=256)(x.clone())).detach().cpu().numpy())


class Real(unittest.TestCase):
    def compare(self, model, inputs, token, axis=1, tolerance=1e-9, **options):
        from jacobian_spectra.blocks import named_blocks

        model = model.double().eval().to(DEVICE)
        names = named_blocks(model, options.get("blocks"))
        print(f"{type(model).__name__}: blocks {names[0]} to {names[-1]}")
        boundary = (model.get_submodule(names[0]), model.get_submodule(names[-1]))
        inputs = {name: value.to(DEVICE) for name, value in inputs.items()}
        begin = time.perf_counter()
        report = js.validate(model, inputs, connections=False, token="all" if token is None else token, **options)
        ours = time.perf_counter() - begin
        begin = time.perf_counter()
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            expected = functional_values(model, boundary, inputs, token, axis)
        theirs = time.perf_counter() - begin
        found = report.measured.singular_values[0]
        difference = float(np.abs(found - expected).max() / expected[-1])
        print(f"{type(model).__name__}: N = {len(found)}, largest difference {difference:.1e} of the largest value; "
              f"validate {ours:.2f} s, torch.func.jacrev + svdvals {theirs:.2f} s")
        self.assertLess(difference, tolerance)
        whole = js.validate(model, inputs, token="all" if token is None else token, **options)
        np.testing.assert_allclose(whole.measured.singular_values[0], found, rtol=0, atol=tolerance * expected[-1])
        print(f"    {whole!r}; predicted {whole.predicted!r}; {whole.seconds:.2f} s with its connections")
        return whole


@unittest.skipUnless(support.has("transformers"), "this Python has no transformers")
class Transformers(Real):
    ids = None

    def setUp(self):
        torch.manual_seed(1)
        self.ids = torch.randint(0, 50, (1, 12))

    def test_gpt2(self):
        from transformers import GPT2Config, GPT2Model

        model = GPT2Model(GPT2Config(n_layer=4, n_embd=96, n_head=4, vocab_size=50))
        self.compare(model, {"input_ids": self.ids, "attention_mask": torch.ones_like(self.ids)}, 11)

    def test_llama(self):
        from transformers import LlamaConfig, LlamaModel

        model = LlamaModel(LlamaConfig(hidden_size=96, num_hidden_layers=4, num_attention_heads=4, vocab_size=50,
                                       intermediate_size=192, num_key_value_heads=2))
        # Its norm works in float32 whatever the weights are, and rounds there.
        whole = self.compare(model, {"input_ids": self.ids}, 11, tolerance=1e-6)
        self.assertIn("lower precision", whole.measured.note)

    def test_bert(self):
        from transformers import BertConfig, BertModel

        model = BertModel(BertConfig(hidden_size=48, num_hidden_layers=3, num_attention_heads=4, vocab_size=50,
                                     intermediate_size=96))
        self.compare(model, {"input_ids": self.ids, "attention_mask": torch.ones_like(self.ids)}, None)

    def test_vit(self):
        from transformers import ViTConfig, ViTModel

        model = ViTModel(ViTConfig(hidden_size=48, num_hidden_layers=3, num_attention_heads=4, intermediate_size=96,
                                   image_size=16, patch_size=4))
        self.compare(model, {"pixel_values": torch.randn(1, 3, 16, 16, dtype=torch.float64)}, None)


@unittest.skipUnless(support.has("torchvision"), "this Python has no torchvision")
class Torchvision(Real):
    def test_resnet18(self):
        from torchvision.models import resnet18

        torch.manual_seed(1)
        model = resnet18(weights=None)
        self.compare(model, {"x": torch.randn(1, 3, 32, 32, dtype=torch.float64)}, None, blocks=["layer3.1"])
        report = js.validate(model, torch.randn(1, 3, 16, 16))
        self.assertIn("changes the size of the state", report.why_no_prediction)

    def test_convnext_tiny(self):
        from torchvision.models import convnext_tiny

        torch.manual_seed(1)
        model = convnext_tiny(weights=None)
        self.compare(model, {"x": torch.randn(1, 3, 32, 32, dtype=torch.float64)}, None, blocks="features.5")


@unittest.skipUnless(support.has("torch") and hasattr(torch, "func"), "this Torch has no torch.func")
class Own(Real):
    def test_transformer_encoder(self):
        torch.manual_seed(1)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
        model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.compare(model, {"src": torch.randn(1, 8, 32, dtype=torch.float64)}, None)


if __name__ == "__main__":
    support.main(needs=["torch"])
