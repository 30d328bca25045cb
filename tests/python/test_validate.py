"""Live models: measured singular values against Torch's own Jacobians, and models given back as they were."""

import contextlib
import io
import os
import pickle
import tempfile
import unittest

import numpy as np

import support

if support.has("torch"):
    import torch
    from torch import nn

    import jacobian_spectra as js
    import lookalikes as la


def jacobian(f, x):
    """Torch's own: torch.func, functorch, or row by row."""
    try:
        from torch.func import jacrev
    except ImportError:
        return torch.autograd.functional.jacobian(f, x)
    return jacrev(f)(x)


def reference(blocks, states, token=None, axis=1):
    """Singular values of the blocks' composition at the states before them; `blocks`: state → state."""
    state = states.detach()

    def f(part):
        x = part.reshape(state.shape) if token is None else torch.cat(
            [state.narrow(axis, 0, token), part.reshape(state.narrow(axis, token, 1).shape),
             state.narrow(axis, token + 1, state.shape[axis] - token - 1)], axis)
        y = blocks(x)
        return (y if token is None else y.narrow(axis, token, 1)).reshape(-1)

    x = (state if token is None else state.narrow(axis, token, 1)).reshape(-1)
    return np.sort(torch.linalg.svdvals(jacobian(f, x.clone())).detach().numpy())


def sequence(blocks):
    """Blocks one after the other; they return the state, or a tuple that begins with it."""
    def run(x):
        for block in blocks:
            x = block(x)
            x = x[0] if isinstance(x, tuple) else x
        return x
    return run


def double(model):
    return model.double().eval()


def ids(rows=1, tokens=5):
    return torch.randint(0, 11, (rows, tokens), generator=torch.Generator().manual_seed(3))


def validate(*arguments, **options):
    """Without the search for an alignment, which takes longer than the rest."""
    return js.validate(*arguments, aligned=None, **options)


class Measured(unittest.TestCase):
    """To 1e-9 of the largest singular value. The models are in double precision, so that both see the same weights."""

    def setUp(self):
        torch.manual_seed(1)

    def check(self, report, expected, input=0):
        found = report.measured.singular_values[input]
        self.assertEqual(len(found), len(expected))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * expected[-1])

    def test_gpt2_last_token(self):
        model = double(la.GPT2Model())
        x = ids(2)
        report = validate(model, {"input_ids": x})
        for k in range(2):
            state = model.wte(x[k:k + 1]) + model.wpe(torch.arange(5))
            self.check(report, reference(sequence(model.h), state, token=4), k)
        self.assertIn("token 4", report.measured.words)
        self.assertEqual([c.name for c in report.connections], ["h.0", "h.1", "h.2"])
        self.assertEqual(report.predicted.certificate.message, "certified")

    def test_gpt2_any_token_and_all(self):
        model = double(la.GPT2Model())
        x = ids()
        state = model.wte(x) + model.wpe(torch.arange(5))
        for token in (0, 2, -1):
            self.check(validate(model, x, token=token), reference(sequence(model.h), state, token=token % 5))
        self.check(validate(model, x, token="all"), reference(sequence(model.h), state))

    def test_tied_head_and_masks(self):
        model = double(la.GPT2LMHeadModel())
        x = ids()
        report = validate(model, {"input_ids": x, "attention_mask": torch.ones_like(x)})
        state = model.transformer.wte(x) + model.transformer.wpe(torch.arange(5))
        self.check(report, reference(sequence(model.transformer.h), state, token=4))
        self.assertEqual(report.connections[0].name, "transformer.h.0")

    def test_llama(self):
        model = double(la.LlamaModel())
        x = ids()
        report = validate(model, x)  # a tensor, though blocks are called by keywords
        expected = reference(sequence(model.layers), model.embed_tokens(x), token=4)
        # The norm works in float32 and rounds there.
        np.testing.assert_allclose(report.measured.singular_values[0], expected, atol=1e-6 * expected[-1])
        self.assertIn("lower precision", report.measured.note)

    def test_bert_sees_all_tokens(self):
        model = double(la.BertModel())
        x = ids()
        report = validate(model, {"input_ids": x, "attention_mask": None})
        self.check(report, reference(sequence(model.encoder.layer), model.embeddings(x)))
        self.assertIn("all tokens", report.measured.words)
        one = validate(model, x, token="last")
        self.check(one, reference(sequence(model.encoder.layer), model.embeddings(x), token=4))
        self.assertIn("other tokens see this one", one.measured.note)

    def test_vit(self):
        model = double(la.ViTModel())
        x = torch.randn(1, 3, 8, 8, dtype=torch.float64)
        state = model.patches(x).flatten(2).transpose(1, 2)
        self.check(validate(model, x.numpy()), reference(sequence(model.encoder.layer), state))

    def test_resnet(self):
        model = la.ResNet().double().train()  # validate() uses the running statistics all the same
        x = torch.randn(1, 3, 6, 6, dtype=torch.float64)
        report = validate(model, x)
        self.assertIsNone(report.predicted)
        self.assertIn("layer2.0 changes the size of the state from 144 to 72", report.why_no_prediction)
        stage = validate(model, x, blocks="layer1")
        self.assertIsNotNone(stage.predicted)
        model.eval()
        state = model.relu(model.bn1(model.conv1(x))).detach()
        self.check(report, reference(lambda s: model.layer2(model.layer1(s)), state))
        self.check(stage, reference(model.layer1, state))

    def test_convnext(self):
        model = double(la.ConvNeXt())
        x = torch.randn(1, 3, 8, 8, dtype=torch.float64)
        state = model.features[0](x)
        self.check(validate(model, x), reference(model.features[1:], state))
        self.assertEqual(len(validate(model, x, blocks="features.3").connections), 3)

    def test_torch_encoder(self):
        for batch_first in (True, False):
            layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=batch_first, norm_first=True)
            model = nn.TransformerEncoder(layer, 2).double().eval()  # evaluation mode: its fused path has no derivative
            x = torch.randn(1, 4, 8, dtype=torch.float64)
            x = x if batch_first else x.transpose(0, 1).contiguous()
            expected = reference(sequence([_plain(layer) for layer in model.layers]), x)
            self.check(validate(model, x), expected)
            mask = torch.zeros(1, 4, dtype=torch.bool)
            self.check(validate(model, {"src": x, "src_key_padding_mask": mask}, batch_axis=0 if batch_first else 1),
                       expected)

    def test_streams_and_their_mixers(self):
        model = double(la.HyperModel())
        x = torch.randn(1, 3, 5, dtype=torch.float64)
        report = validate(model, x)
        state = model.embed(x)[:, :, None, :].expand(-1, -1, 4, -1).contiguous()
        self.check(report, reference(sequence(model.blocks), state, token=2))
        for connection, block in zip(report.connections, model.blocks):
            # The mean diagonal has the branch's own in it: its share falls with the width.
            np.testing.assert_allclose(connection.mixer, block.H_res.detach().numpy(), atol=0.1)
            self.assertEqual(connection.mixer.shape, (4, 4))

    def test_streams_in_the_batch(self):
        model = double(la.FoldedHyperModel())
        x = torch.randn(2, 3, 8, dtype=torch.float64)
        report = validate(model, x)
        self.assertEqual(report.connections[0].mixer.shape, (3, 3))
        self.check(report, reference(sequence(model.blocks), x[:1].repeat_interleave(3, 0), token=2), 0)

    def test_lists_of_modules(self):
        model = double(la.PairModel())
        x = torch.randn(1, 3, 12, dtype=torch.float64)

        def run(s):
            for attention, mlp in model.layers:
                s = attention(s) + s
                s = mlp(s) + s
            return s
        self.check(validate(model, x), reference(run, x, token=2))
        self.check(validate(model, x, token="all"), reference(run, x))

    def test_shared_weights(self):
        model = double(la.LoopedModel())
        x = torch.randn(1, 3, 8, dtype=torch.float64)
        report = validate(model, x)
        self.check(report, reference(sequence(model.blocks), x, token=2))
        self.assertEqual(report._members()["predictions"][-1]["networks"][0]["branch"][0], 3)  # tied

    def test_without_blocks(self):
        model = nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 4)).double()
        x = torch.randn(1, 6, dtype=torch.float64)
        report = validate(model, x)
        self.check(report, reference(model, x))
        self.assertIn("no blocks", report.why_no_prediction)

    def test_several_calls_and_named_modules(self):
        model = double(la.GPT2Model())
        x = ids()
        state = model.wte(x) + model.wpe(torch.arange(5))
        two = validate(model, x, blocks=["h.0", model.h[1]])
        self.check(two, reference(sequence(model.h[:2]), state, token=4))

    def test_single_precision(self):
        model = la.GPT2Model()
        wide, narrow = (validate(model, ids(), precision=p) for p in ("f64", "model"))
        np.testing.assert_allclose(wide.measured.singular_values[0], narrow.measured.singular_values[0], atol=1e-4)
        self.assertIn("f32", narrow.measured.words)
        half = validate(la.GPT2Model().to(torch.bfloat16), ids())
        self.assertIn("f64", half.measured.words)

    def test_inside_autocast_and_inference_mode(self):
        model, x = double(la.GPT2Model()), ids()
        plain = validate(model, x).measured.metrics
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(validate(model, x).measured.metrics, plain)
        with torch.inference_mode():
            self.assertEqual(validate(model, x).measured.metrics, plain)
        with torch.no_grad():
            self.assertEqual(validate(model, x).measured.metrics, plain)


def _plain(layer):
    """A layer of PyTorch's encoder without its fused path."""
    def run(x):
        attended = layer.norm1(x)
        x = x + layer.self_attn(attended, attended, attended, need_weights=True)[0]
        return x + layer.linear2(layer.activation(layer.linear1(layer.norm2(x))))
    return run


class Probed(unittest.TestCase):
    def test_equals_exact_within_its_errors(self):
        torch.manual_seed(2)
        model = double(la.GPT2Model(layers=2, width=24))
        x = ids(1, 4)
        exact = validate(model, x, token="all").measured.metrics
        report = validate(model, x, token="all", method="probes", error=1e-2)
        probed, error = report.measured.metrics, report.measured.error
        for name in ("window", "collapsed", "mean_square", "largest"):
            self.assertLess(abs(probed[name] - exact[name]), 4 * error[name] + 1e-3, name)
        self.assertIn("probes of", report.measured.note)
        self.assertIsNotNone(report.predicted)

    def test_products(self):
        from jacobian_spectra.products import Products

        def f(x):
            return torch.tanh(weights @ x)
        weights = torch.randn(7, 5, dtype=torch.float64)
        x = torch.randn(5, dtype=torch.float64)
        expected = torch.autograd.functional.jacobian(f, x)
        products = Products(f, x, "f", 7)
        torch.testing.assert_close(products.matrix(), expected)
        torch.testing.assert_close(products.push(torch.eye(5, dtype=torch.float64)), expected.T.contiguous())
        products._forward_mode = True
        torch.testing.assert_close(products.push(torch.eye(5, dtype=torch.float64)), expected.T.contiguous())

    def test_models_that_can_be_differentiated_once(self):
        model = double(_OnceModel())
        x = torch.randn(1, 2, 12, dtype=torch.float64)
        self.assertTrue(validate(model, x).measured.metrics.window >= 0)
        with self.assertRaisesRegex(ValueError, "differentiated twice, or forwards"):
            validate(model, x, method="probes")


if support.has("torch"):
    class _Once(torch.autograd.Function):
        """A fused operation with a derivative and no second one."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.detach().sin()

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, gradient):
            return gradient * ctx.saved_tensors[0].cos()

    class _OnceBlock(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(12, 12))

        def forward(self, x):
            return x + _Once.apply(self.inner(x))

    class _OnceModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([_OnceBlock(), _OnceBlock()])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x


def everything(model):
    """All that must be as it was: flags, weights, buffers, hooks, attributes; values too."""
    out = {}
    for name, module in model.named_modules():
        for key, value in module.__dict__.items():
            if isinstance(value, dict):
                value = tuple((k, id(v)) for k, v in value.items())
            out[name, key] = value if isinstance(value, (bool, int, float, str, tuple)) else id(value)
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        out[name] = (id(tensor), tensor.dtype, tensor.requires_grad, tensor.data_ptr(), float(tensor.double().sum()),
                     tensor._version)
    out["random"] = torch.random.get_rng_state().numpy().tobytes()
    return out


class Found(unittest.TestCase):
    """The blocks that are found in models of other kinds, by name."""

    def test_names(self):
        from jacobian_spectra.blocks import find

        def block(width=4):
            return nn.Sequential(nn.Linear(width, width))

        mixed = nn.Module()  # layers of two classes in turn
        mixed.layers = nn.ModuleList([la.BertLayer(4), block(), la.BertLayer(4)])
        self.assertEqual(find(mixed), ["layers.0", "layers.1", "layers.2"])
        experts = la.GPT2Model()  # lists inside blocks are not the stack
        for one in experts.h:
            one.experts = nn.ModuleList([block(64) for _ in range(4)])
        self.assertEqual(find(experts), ["h.0", "h.1", "h.2"])
        self.assertEqual(find(la.ResNet()), ["layer1.0", "layer1.1", "layer2.0", "layer2.1"])
        self.assertEqual(find(nn.Linear(2, 2)), [])

    def test_images_are_not_streams(self):
        from jacobian_spectra.state import axes_of

        self.assertEqual(axes_of(torch.zeros(1, 7, 7, 32), 0, None, []), (None, None))
        self.assertEqual(axes_of(torch.zeros(1, 7, 4, 32), 0, None, []), (1, 2))
        self.assertEqual(axes_of(torch.zeros(1, 7, 32), 0, None, []), (1, None))
        self.assertEqual(axes_of(torch.zeros(4, 7, 32), 0, None, []), (1, 0))
        self.assertEqual(axes_of(torch.zeros(1, 32), 0, None, []), (None, None))


class GivenBack(unittest.TestCase):
    def unchanged(self, model, call, error=None):
        before = everything(model)
        if error is None:
            call()
        else:
            with self.assertRaisesRegex(ValueError, error):
                call()
        after = everything(model)
        self.assertEqual({k: v for k, v in after.items() if before.get(k) != v}, {})
        self.assertEqual(set(before), set(after))

    def test_after_success(self):
        for model, x in ((la.GPT2LMHeadModel(), ids()), (la.ResNet(), torch.randn(1, 3, 6, 6)),
                         (la.PairModel(), torch.randn(1, 2, 12))):
            model.train()
            next(model.parameters()).requires_grad_(False)
            model.register_forward_hook(lambda *_: None)
            self.unchanged(model, lambda: validate(model, x))

    def test_after_failure(self):
        model = la.GPT2Model().train()
        self.unchanged(model, lambda: validate(model, torch.full((1, 3), 99)), "could not be run")
        self.unchanged(model, lambda: validate(model, ids(), token=9), "must be 0 to 4")

    def test_attributes_and_buffers_that_forward_changes(self):
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Sequential(nn.Linear(4, 4))
                self.register_buffer("calls", torch.zeros(1))
                self.last = None

            def forward(self, x):
                self.calls += 1
                self.last = x
                return x + self.linear(x)

        model, x = nn.Sequential(Block(), Block()), torch.randn(1, 2, 4)
        self.unchanged(model, lambda: validate(model, x))

    def test_training_goes_on(self):
        model = la.GPT2LMHeadModel()
        loss = model(ids())["logits"].sum()
        validate(model, ids())  # between forward and backward
        loss.backward()
        self.assertIsNotNone(model.transformer.wte.weight.grad)


class Refused(unittest.TestCase):
    """One line that says what to do."""

    def refuse(self, words, *args, **kwargs):
        with self.assertRaises(ValueError) as raised, contextlib.redirect_stderr(io.StringIO()):
            validate(*args, **kwargs)
        self.assertIn(words, str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))

    def test_what_cannot_be_measured(self):
        x = torch.randn(1, 3, 8)
        self.refuse("name one: blocks='encoder.block'", la.EncoderDecoder(), x)
        self.refuse("no such module", la.GPT2Model(), ids(), blocks="transformer.h")
        self.refuse("torch.nn.Module is required", lambda x: x, x)
        self.refuse("Python model", torch.jit.script(nn.Linear(3, 3)), torch.randn(1, 3))
        self.refuse("name the blocks", nn.Embedding(3, 4), torch.zeros(1, 2, dtype=torch.long))
        self.refuse("must be auto, exact or probes", la.GPT2Model(), ids(), method="fast")
        self.refuse("must be", la.GPT2Model(), ids(), require="windows>=1")
        self.refuse("device meta", la.GPT2Model().to("meta"), ids())
        self.refuse("a tensor is required", la.GPT2Model(), {"input_ids": None})

    def test_chance(self):
        class Noisy(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Linear(8, 8))

            def forward(self, x):
                return x + nn.functional.dropout(self.inner(x), 0.5)  # whatever eval() says

        self.refuse("gives another result the second time", nn.Sequential(Noisy(), Noisy()), torch.randn(1, 3, 8))

    def test_no_gradient(self):
        class Cut(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Linear(8, 8))

            @torch.no_grad()
            def forward(self, x):
                return x + self.inner(x)

        self.refuse("torch.no_grad()", nn.Sequential(Cut(), Cut()), torch.randn(1, 3, 8))

    def test_checkpointing(self):
        from torch.utils.checkpoint import checkpoint

        class Saving(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Linear(8, 8))

            def forward(self, x):
                return x + checkpoint(self.inner, x, use_reentrant=True)

        self.refuse("switch gradient checkpointing off", nn.Sequential(Saving(), Saving()), torch.randn(1, 3, 8))

    def test_not_finite(self):
        model = la.GPT2Model()
        with torch.no_grad():
            model.h[0].ln_1.weight.fill_(float("nan"))
        self.refuse("infinities or NaN", model, ids(), check=False)


class Layer(torch.nn.Module):
    """x + Wx."""

    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(weight)

    def forward(self, x):
        return x + x @ self.weight.T


class Layers(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x):
        return sequence(self.layers)(x)


class Aligned(unittest.TestCase):
    """Four layers of 32 channels, W_l = 0.3 G/√N + strength · u uᵀ with one u for all of them."""

    @staticmethod
    def stack(strength):
        generator = torch.Generator().manual_seed(5)
        u = torch.nn.functional.normalize(torch.randn(32, generator=generator, dtype=torch.float64), dim=0)
        weights = [0.3 * torch.randn(32, 32, generator=generator, dtype=torch.float64) / 32**0.5 for _ in range(4)]
        return Layers(Layer(w + strength * torch.outer(u, u)) for w in weights), torch.randn(1, 32, dtype=torch.float64)

    def test_one_direction_that_all_layers_share(self):
        model, x = self.stack(1.5)
        report = js.validate(model, x, blocks="layers", explain=0.03)
        found = report.alignment
        self.assertEqual((found.rank, found.width), (1, 32))
        free, kept = found.by_rank
        self.assertEqual((free.kept, kept.kept), (0, 1))
        self.assertGreater(free.distance, 10 * kept.distance)
        # (1 + 1.5)⁴ = 39 along u; theory without the vectors does not see it.
        largest = report.measured.metrics.largest
        self.assertAlmostEqual(kept.metrics.largest / largest, 1, delta=0.05)
        self.assertLess(free.metrics.largest, 0.2 * largest)
        self.assertTrue(found.theory.certificate.certified)
        self.assertLess(found.theory.distance, 0.03)
        self.assertGreater(found.overlaps[3, 0], 0.9)
        self.assertEqual(len(found.common), len(found.overlaps))
        # Each of the four branches makes 1.5 of the 2.5 along u.
        self.assertEqual(sorted(one.connection for one in found.leading[:4]), [0, 1, 2, 3])
        for one in found.leading[:4]:
            self.assertEqual(one.triplet, 0)
            self.assertAlmostEqual(one.elasticity, 0.6, delta=0.05)
        self.assertIn("keeping the 1 largest triplets of every branch explains", report.page())
        self.assertEqual(report.json()["alignment"]["rank"], 1)
        again = pickle.loads(pickle.dumps(report))
        self.assertEqual(repr(again.alignment), repr(found))
        self.assertLess(len(pickle.dumps(report)), 400000)

    def test_none_where_layers_are_independent(self):
        self.assertEqual(js.validate(*self.stack(0.0), blocks="layers").alignment.rank, 0)

    def test_as_many_as_asked_or_none(self):
        model, x = self.stack(1.5)
        self.assertEqual([one.kept for one in js.validate(model, x, blocks="layers", aligned=3).alignment.by_rank], [0, 3])
        self.assertIsNone(js.validate(model, x, blocks="layers", aligned=None).alignment)
        self.assertIsNone(js.validate(model, x, blocks="layers", method="probes", probes=2, steps=10).alignment)
        with self.assertRaisesRegex(ValueError, "aligned='all': must be auto, search, a number of triplets, or None"):
            js.validate(model, x, aligned="all")


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(4)
        cls.model = la.GPT2Model()
        cls.report = js.validate(cls.model, ids(2), require="window>=0.1,largest<=9", name="look-alike", step=7)

    def test_verdict(self):
        self.assertTrue(self.report.verdict)
        strict = js.validate(self.model, ids(), require="window>=0.999", connections=False)
        self.assertFalse(strict.verdict)
        self.assertIn("required window >= 0.999", strict.verdict.reasons[0])
        self.assertIsNone(strict.predicted)

    def test_page_and_json(self):
        page = str(self.report)
        for words in ("look-alike", "2 inputs, token 4, N = 16, f64", "measured         predicted", "PASS"):
            self.assertIn(words, page)
        found = self.report.json()
        self.assertEqual(found["measured"]["window"], self.report.measured.metrics.window)
        self.assertEqual(found["verdict"], "PASS")

    def test_files_and_pickles(self):
        folder = tempfile.mkdtemp()
        path = self.report.save(os.path.join(folder, "x.h5"))
        if support.has_gnuplot():
            self.assertGreater(os.path.getsize(self.report.plot().save(os.path.join(folder, "x.png"))), 1000)
        again = pickle.loads(pickle.dumps(self.report))
        self.assertEqual(str(again), str(self.report))
        self.assertEqual(again.predicted.metrics, self.report.predicted.metrics)
        if support.has("h5py"):
            import h5py

            with h5py.File(path) as file:
                self.assertEqual(file["metrics/measured"].attrs["window"], self.report.measured.metrics.window)
                self.assertEqual(file["trained/jacobian_singular_values"].shape, (2, 16))


if __name__ == "__main__":
    support.main(needs=["torch"])
