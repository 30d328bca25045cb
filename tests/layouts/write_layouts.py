"""Writes a small weight file in each layout with Torch, and the mixers that the model's own code would apply.

    python3 write_layouts.py FOLDER

FOLDER/*.pt, *.ckpt, *.safetensors and FOLDER/expected.json: for every file its layout, streams, width and two lists of
connections, at zero input and, where they depend on it, at the state `state`; each connection {name, mixer, pre, post}. Mixers are taken as they
act: the code's contraction is applied to n unit states. Everything is computed here from the definitions, in double
precision from the stored numbers. Needs Torch 1.13 or later, and nothing else.
"""

import collections
import itertools
import json
import math
import os
import struct
import sys

import torch
import torch.nn.functional as F

N = 4  # streams
P = 3  # channels a stream
C = N * P
DOUBLE = torch.float64
GENERATOR = torch.Generator().manual_seed(7)


def normal(*shape, scale=1.0, dtype=torch.float32):
    return (scale * torch.randn(shape, generator=GENERATOR, dtype=DOUBLE)).to(dtype)


STATE = normal(C, scale=1.5).to(DOUBLE)
ZERO = torch.zeros(C, dtype=DOUBLE)


# --- what models have in common

def rms_norm(x, eps=1e-6):
    return x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + eps)


def unit_norm(x, gamma):
    return F.normalize(x, dim=-1) * x.shape[-1]**0.5 * (gamma + 1)


def transposed_contraction(h):
    """A of x ↦ einsum('s t, s d -> t d', H, x)."""
    return torch.einsum("st,sd->td", h, torch.eye(h.shape[0], dtype=DOUBLE))


def plain_contraction(h):
    return torch.einsum("ij,jd->id", h, torch.eye(h.shape[0], dtype=DOUBLE))


def sinkhorn_log(z, sweeps, axes):
    for _ in range(sweeps):
        for axis in axes:
            z = z - torch.logsumexp(z, dim=axis, keepdim=True)
    return z.exp()


def cayley(skew):
    """(I + S)⁻¹(I − S)."""
    eye = torch.eye(skew.shape[0], dtype=DOUBLE)
    return torch.linalg.solve(eye + skew, eye - skew)


def skew(upper, n):
    rows, columns = torch.triu_indices(n, n, offset=1)
    s = torch.zeros(n, n, dtype=DOUBLE)
    s[rows, columns] = upper
    return s - s.T


def mlp(w, name, x):
    hidden = F.gelu(w[name + ".0.weight"] @ x + w[name + ".0.bias"])
    return w[name + ".2.weight"] @ hidden + w[name + ".2.bias"]


def layer_norm(w, name, x):
    return F.layer_norm(x, x.shape, w[name + ".weight"], w[name + ".bias"], 1e-5)


def routes(raw):
    n = math.isqrt(raw.numel() // 2)
    pre, post = raw.view(2, n, n)
    ones = torch.ones(n, dtype=DOUBLE)
    return F.softmax(pre, dim=-1).mean(0), F.softmax(post, dim=-2) @ ones


class Widened:
    """The stored numbers of one connection, in double precision."""

    def __init__(self, tensors, prefix):
        self.tensors, self.prefix = tensors, prefix

    def __getitem__(self, key):
        return self.tensors[self.prefix + key].to(DOUBLE)

    def __contains__(self, key):
        return self.prefix + key in self.tensors


# --- tokenbender: static

def tokenbender_tensors(n):
    return {"H_res_logits": normal(n, n, scale=0.1), "H_pre_logits": normal(n), "H_post_logits": normal(n),
            "norm.gamma": torch.zeros(P)}


def tokenbender(w, x):
    z = w["H_res_logits"] / 0.05
    n = z.shape[0]
    u = v = torch.zeros(n, dtype=DOUBLE)
    for _ in range(10):
        u = -math.log(n) - torch.logsumexp(z + v[None, :], dim=1)
        v = -math.log(n) - torch.logsumexp(z + u[:, None], dim=0)
    h = torch.exp(z + u[:, None] + v[None, :]) * n
    return transposed_contraction(h), F.softmax(w["H_pre_logits"], -1), F.softmax(w["H_post_logits"], -1)


# --- mhc-lite

def mhc_lite_tensors(n, lite):
    size = n + math.factorial(n) if lite else n * (n + 1)
    return {"static_alpha": normal(size) if lite else normal(n, n + 1, scale=2), "static_beta": normal(n),
            "dynamic_alpha_fn": normal(n * P, size, scale=0.3), "dynamic_beta_fn": normal(n * P, n, scale=0.3),
            "norm.gamma": normal(n * P, scale=0.2), "pre_branch_scale": normal(1), "residual_scale": normal(1),
            "h_post_scale": normal()}


def mhc_lite(w, x):
    n = w["static_beta"].numel()
    x = unit_norm(x[:n * P], w["norm.gamma"])
    dynamic = x @ w["dynamic_alpha_fn"]
    alpha = w["static_alpha"]
    if alpha.dim() == 1:
        pre = w["pre_branch_scale"] * dynamic[:n] + alpha[:n]
        coefficients = torch.softmax(w["residual_scale"] * dynamic[n:] + alpha[n:], -1)
        matrices = torch.eye(n, dtype=DOUBLE)[torch.tensor(list(itertools.permutations(range(n))))]
        h = torch.einsum("r,rij->ij", coefficients, matrices)
    else:
        scale = torch.cat([w["pre_branch_scale"], w["residual_scale"].expand(n)])
        alpha = dynamic.view(n, n + 1) * scale + alpha
        pre, h = alpha[:, 0], sinkhorn_log(alpha[:, 1:], 20, (-2, -1))
    post = 2 * torch.sigmoid(w["static_beta"] + w["h_post_scale"] * (x @ w["dynamic_beta_fn"]))
    return transposed_contraction(h), torch.sigmoid(pre), post


# --- lucidrains' hyper-connections, constrained and free

def hyper_tensors(n, constrained, proposals):
    shape = (proposals, P, n + 1) if proposals else (P, n + 1)
    tensors = {"static_alpha": normal(n, n + 1), "static_beta": normal(n),
               "dynamic_alpha_fn": normal(*shape, scale=0.3), "dynamic_beta_fn": normal(P, scale=0.3),
               "norm.gamma": normal(P, scale=0.2)}
    names = ("pre_branch_scale", "residual_scale") if constrained else ("dynamic_alpha_scale",)
    tensors.update({name: normal(1) if constrained else normal() for name in names})
    tensors["h_post_scale" if constrained else "dynamic_beta_scale"] = normal()
    return tensors


def hyper(w, x):
    n = w["static_beta"].numel()
    constrained = "residual_scale" in w
    x = unit_norm(x[:n * P].view(n, P), w["norm.gamma"])
    act = (lambda y: y) if constrained else torch.tanh
    fn = w["dynamic_alpha_fn"]
    mixers, pres = [], []
    for proposal in fn if fn.dim() == 3 else [fn]:
        dynamic = act(x @ proposal)
        if constrained:
            scale = torch.cat([w["pre_branch_scale"], w["residual_scale"].expand(n)])
        else:
            scale = w["dynamic_alpha_scale"]
        alpha = dynamic * scale + w["static_alpha"]
        h = alpha[:, 1:]
        if constrained:
            h = (h - h.amax(dim=-2, keepdim=True)).exp()
            for _ in range(20):
                h = F.normalize(h, p=1, dim=-2)
                h = F.normalize(h, p=1, dim=-1)
        mixers.append(transposed_contraction(h))
        pres.append(torch.sigmoid(alpha[:, 0]) if constrained else alpha[:, 0])
    beta_scale = w["h_post_scale"] if constrained else w["dynamic_beta_scale"]
    post = w["static_beta"] + beta_scale * act(x @ w["dynamic_beta_fn"])
    post = 2 * torch.sigmoid(post) if constrained else post
    return sum(mixers) / len(mixers), sum(pres) / len(pres), post


# --- s2HC

def s2hc_tensors(n):
    tensors = {"static_alpha_residual": normal((n - 1)**2), "static_alpha_pre": normal(n, 1), "static_beta": normal(n),
               "to_alpha_residual.weight": normal((n - 1)**2, n * P, scale=0.3),
               "to_alpha_pre.weight": normal(n, n * P, scale=0.3), "to_beta.weight": normal(n, n * P, scale=0.3),
               "norm.gamma": normal(n * P, scale=0.2), "h_post_scale": normal()}
    for name in ("pre_branch_scale", "residual_rot_scale_u", "residual_rot_scale_v", "residual_val_scale", "gamma_u",
                 "gamma_v"):
        tensors[name] = normal(1)
    return tensors


def helmert(n):
    u = torch.zeros(n, n - 1, dtype=DOUBLE)
    for k in range(1, n):
        u[:k, k - 1] = 1 / math.sqrt(k * (k + 1))
        u[k, k - 1] = -k / math.sqrt(k * (k + 1))
    return u


def s2hc(w, x):
    n = w["static_beta"].numel()
    k = (n - 1) * (n - 2) // 2
    x = unit_norm(x[:n * P], w["norm.gamma"])
    dynamic = w["to_alpha_residual.weight"] @ x
    static = w["static_alpha_residual"]
    upper_u = w["gamma_u"] * torch.tanh(dynamic[:k] * w["residual_rot_scale_u"] + static[:k])
    upper_v = w["gamma_v"] * torch.tanh(dynamic[k:2 * k] * w["residual_rot_scale_v"] + static[k:2 * k])
    sigma = torch.tanh(dynamic[2 * k:] * w["residual_val_scale"] + static[2 * k:])
    core = cayley(skew(upper_u, n - 1)) @ torch.diag(sigma) @ cayley(skew(upper_v, n - 1)).T
    h = torch.full((n, n), 1 / n, dtype=DOUBLE) + helmert(n) @ core @ helmert(n).T
    pre = torch.sigmoid(w["to_alpha_pre.weight"] @ x * w["pre_branch_scale"] + w["static_alpha_pre"][:, 0])
    post = 2 * torch.sigmoid(w["to_beta.weight"] @ x * w["h_post_scale"] + w["static_beta"])
    return transposed_contraction(h), pre, post


# --- DeepSeek-V4

def deepseek_tensors(n, dtype=torch.bfloat16):
    size = n * (n + 2)
    return {"_fn": normal(size, n * P, scale=0.3, dtype=dtype), "_base": normal(size), "_scale": normal(3)}


def deepseek(w, x):
    base, scale, eps = w["_base"], w["_scale"], 1e-6
    n = math.isqrt(base.numel() + 1) - 1
    x = x[:n * P]
    mixes = F.linear(x, w["_fn"]) * torch.rsqrt(x.square().mean() + 1e-6)
    pre = torch.sigmoid(mixes[:n] * scale[0] + base[:n]) + eps
    post = 2 * torch.sigmoid(mixes[n:2 * n] * scale[1] + base[n:2 * n])
    comb = torch.softmax((mixes[2 * n:] * scale[2] + base[2 * n:]).view(n, n), dim=-1) + eps
    comb = comb / (comb.sum(-2, keepdim=True) + eps)
    for _ in range(19):
        comb = comb / (comb.sum(-1, keepdim=True) + eps)
        comb = comb / (comb.sum(-2, keepdim=True) + eps)
    states = torch.eye(n, dtype=DOUBLE)
    mixer = torch.sum(comb.unsqueeze(-1) * states.unsqueeze(-2), dim=0)
    return mixer, pre, post


# --- EΔ's suite

def net(name, inputs, hidden, outputs):
    return {name + ".0.weight": normal(hidden, inputs), name + ".0.bias": normal(hidden),
            name + ".2.weight": normal(outputs, hidden), name + ".2.bias": normal(outputs)}


def hybrid_tensors(n):
    c = n * P
    tensors = {}
    for name, outputs in (("u_net", n), ("v_net", n), ("beta_net", 1), ("k_net", n)):
        tensors.update(net(name, c, c // 4, outputs))
    tensors.update({"gate_net.weight": normal(1, c), "gate_net.bias": normal(1), "I": torch.eye(n),
                    "householder_beta": torch.tensor(2.0)})
    return tensors


def hybrid_matrix(u, v, beta_raw, k, gate_raw):
    m = F.softplus(beta_raw) / 2 * (torch.outer(u, v) - torch.outer(v, u))
    k = F.normalize(k, dim=-1)
    gate = torch.sigmoid(gate_raw)
    return gate * cayley(m) + (1 - gate) * (torch.eye(len(u), dtype=DOUBLE) - 2 * torch.outer(k, k))


def hybrid(w, x):
    raw = [mlp(w, name, x) for name in ("u_net", "v_net", "beta_net", "k_net")]
    gate = w["gate_net.weight"] @ x + w["gate_net.bias"]
    return plain_contraction(hybrid_matrix(raw[0], raw[1], raw[2], raw[3], gate)), None, None


def stream_tensors(n):
    tensors = {"norm.weight": normal(n * P), "norm.bias": normal(n * P)}
    tensors.update(net("geo_proj", n * P, 5, 3 * n + 2))
    return tensors


def router_tensors(n):
    return {"norm.weight": normal(n * P), "norm.bias": normal(n * P), "proj.weight": normal(2 * n * n, n * P),
            "proj.bias": normal(2 * n * n)}


def stream_hybrid(w, router, x):
    raw = mlp(w, "geo_proj", layer_norm(w, "norm", x))
    n = (raw.numel() - 2) // 3
    a = plain_contraction(hybrid_matrix(raw[:n], raw[n:2 * n], raw[2 * n], raw[2 * n + 1:3 * n + 1], raw[3 * n + 1]))
    turned = (a @ x.view(n, P)).reshape(-1)
    pre, post = routes(router["proj.weight"] @ layer_norm(router, "norm", turned) + router["proj.bias"])
    return a, a.T @ pre, post  # F reads pre of the turned state, (Aᵀ pre) of the state


def jpmhc_tensors(n):
    return {"norm.weight": normal(n * P), "norm.bias": normal(n * P),
            "fused_proj.weight": normal(3 * n * n, n * P, scale=0.3), "fused_proj.bias": normal(3 * n * n)}


def cayley_iteration(raw, iterations, step):
    w = raw - raw.T
    eye = torch.eye(w.shape[0], dtype=DOUBLE)
    if iterations == 0:
        return cayley(-step / 2 * w)
    y = eye + step * w
    for _ in range(iterations):
        y = eye + step / 2 * w @ (eye + y)
    return y


def jpmhc(w, x, iterations=2, step=0.1):
    raw = w["fused_proj.weight"] @ layer_norm(w, "norm", x) + w["fused_proj.bias"]
    n = math.isqrt(raw.numel() // 3)
    pre, post = routes(raw[:2 * n * n])
    return plain_contraction(cayley_iteration(raw[2 * n * n:].view(n, n), iterations, step)), pre, post


def mhc_tensors(n, size, square=False):
    tensors = {"rms_norm.weight": normal(n * P), "phi_pre.weight": normal(n, n * P), "b_pre": normal(n),
               "phi_post.weight": normal(n, n * P), "b_post": normal(n), "alpha_pre": normal(scale=0.3),
               "alpha_post": normal(scale=0.3)}
    if size:
        tensors.update({"phi_res.weight": normal(size, n * P, scale=0.3), "alpha_res": normal(scale=0.3),
                        "b_res": normal(n, n) if square else normal(size)})
    return tensors


def mapping(w, which, x, act=lambda y: y):
    seen = rms_norm(x) * w["rms_norm.weight"]
    return w["alpha_" + which] * act(w[f"phi_{which}.weight"] @ seen) + w["b_" + which].flatten()


def mhc(w, x):
    n = w["b_pre"].numel()
    h = mapping(w, "res", x).view(n, n).exp()
    for _ in range(20):
        h = h / (h.sum(-1, keepdim=True) + 1e-8)
        h = h / (h.sum(-2, keepdim=True) + 1e-8)
    return plain_contraction(h), torch.sigmoid(mapping(w, "pre", x)), 2 * torch.sigmoid(mapping(w, "post", x))


# --- models of spectra train: any family of mixer

def family(name, raw, n, config):
    eye = torch.eye(n, dtype=DOUBLE)
    if name == "bistochastic":
        sweeps = 1000 if config.get("sinkhorn_backward", "direct") == "direct" else config["sinkhorn_iterations"]
        return sinkhorn_log(raw.view(n, n), sweeps, (-1, -2))
    if name == "orthogonal":
        return cayley(skew(raw, n))
    if name == "cayley":
        return cayley_iteration(raw.view(n, n), config["cayley_iterations"], config["cayley_step"])
    if name == "cayley-hybrid":
        return hybrid_matrix(raw[:n], raw[n:2 * n], raw[2 * n], raw[2 * n + 1:3 * n + 1], raw[3 * n + 1])
    if name == "rotation":
        m = F.softplus(raw[2 * n]) / 2 * (torch.outer(raw[:n], raw[n:2 * n]) - torch.outer(raw[n:2 * n], raw[:n]))
        return cayley(m)
    if name == "spectral-sphere":
        k = (n - 1) * (n - 2) // 2
        u, v = cayley(-skew(raw[:k], n - 1)), cayley(-skew(raw[k:2 * k], n - 1))
        return 1 / n + helmert(n) @ u @ torch.diag(torch.tanh(raw[2 * k:])) @ v.T @ helmert(n).T
    if name == "grassmann":
        g = raw.view(n, -1)
        return g @ torch.linalg.solve(g.T @ g, g.T)
    if name == "permutation":
        weights = torch.softmax(raw, -1)
        return sum(weight * eye[list(p)] for weight, p in zip(weights, itertools.permutations(range(n))))
    if name == "householder":
        k = F.normalize(raw[:n], dim=-1)
        return eye - 2 * torch.sigmoid(raw[n]) * torch.outer(k, k)
    return raw.view(n, n) if name == "hyper" else eye


def raw_size(name, n):
    return {"identity": 0, "bistochastic": n * n, "orthogonal": n * (n - 1) // 2, "cayley": n * n,
            "cayley-hybrid": 3 * n + 2, "rotation": 2 * n + 1, "spectral-sphere": (n - 1)**2, "grassmann": n * 2,
            "permutation": math.factorial(n), "householder": n + 1, "hyper": n * n}[name]


def own(name, config):
    unbounded = config["architecture"] == "hc"

    def connection(w, x):
        act = torch.tanh if unbounded else (lambda y: y)
        n = w["b_pre"].numel()
        raw = mapping(w, "res", x, act) if "b_res" in w else torch.zeros(0, dtype=DOUBLE)
        pre, post = mapping(w, "pre", x, act), mapping(w, "post", x, act)
        if not unbounded:
            pre, post = torch.sigmoid(pre), 2 * torch.sigmoid(post)
        return plain_contraction(family(name, raw, n, config)), pre, post

    return connection


# --- files

def numbers(tensor):
    return None if tensor is None else tensor.tolist()


def connections(tensors, names, connection, cycles=1):
    """At zero input and at STATE. `connection(w, x)`, or (w, router, x) where a router stands beside it."""
    result = {}
    for place, x in (("zero", ZERO), ("state", STATE)):
        if connection is tokenbender and place == "state":
            continue  # nothing depends on the input
        result[place] = []
        for name in names * cycles:
            w = Widened(tensors, name if name.endswith(("hc_attn", "hc_ffn")) and name + "_fn" in tensors else name + ".")
            if connection is stream_hybrid:
                router = name.replace("geo_", "router_")
                mixer, pre, post = connection(w, Widened(tensors, router + "."), x)
            else:
                mixer, pre, post = connection(w, x)
            result[place].append({"name": name, "mixer": numbers(mixer), "pre": numbers(pre), "post": numbers(post)})
    return result


def stacked(names, tensors_of):
    return {f"{name}.{key}": tensor for name in names for key, tensor in tensors_of().items()}


def block_names(stem, count, sublayers):
    return [f"{stem}.{i}.{sublayer}" for i in range(count) for sublayer in sublayers]


def safetensors(tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for key, tensor in tensors.items():
        raw = (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy().tobytes()
        name = {torch.bfloat16: "BF16", torch.float32: "F32"}[tensor.dtype]
        header[key] = {"dtype": name, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Writer:
    def __init__(self, folder):
        self.folder, self.expected = folder, {}

    def add(self, file, content, layout, tensors, names, connection, cycles=1, streams=N, width=P):
        self.write(file, content)
        self.expected[file] = {"layout": layout, "streams": streams, "width": width,
                               **connections(tensors, names, connection, cycles)}

    def write(self, file, content):
        path = os.path.join(self.folder, file)
        if isinstance(content, bytes):
            with open(path, "wb") as out:
                out.write(content)
        else:
            torch.save(content, path)


def write_hyper_files(writer):
    names = block_names("transformer.h", 11, ("hc_attn", "hc_mlp"))
    tensors = stacked(names, lambda: tokenbender_tensors(N))
    state = dict(tensors)
    for i in range(11):  # the same memory under another name, as wrapped branches have it
        key = f"transformer.h.{i}.hc_mlp.H_res_logits"
        state[f"transformer.h.{i}.wrapped.hc_mlp.H_res_logits"] = state[key]
    config = {"n_layer": 11, "hc_num_streams": N, "mhc": True, "sinkhorn_iters": 10, "sinkhorn_tau": 0.05,
              "mhc_h_res_proj": "sinkhorn", "ns_coeffs": (3.0, -3.2, 1.2), "bias": False}
    writer.add("tokenbender.pt", {"model": state, "config": config, "iter_num": 7, "best_val_loss": 3.25},
               "tokenbender", tensors, names, tokenbender)

    names = block_names("_orig_mod.transformer.h", 1, ("hc_attn", "hc_mlp"))
    tensors = stacked(names, lambda: mhc_lite_tensors(N, True))
    writer.add("mhc_lite.pt", {"model": tensors, "model_args": {"hyper_conn_type": "mhc_lite", "hyper_conn_n": N}},
               "mhc-lite", tensors, names, mhc_lite)
    names = block_names("module.transformer.h", 1, ("hc_attn", "hc_mlp"))
    tensors = stacked(names, lambda: mhc_lite_tensors(N, False))
    writer.add("mhc_lite_mhc.pt", collections.OrderedDict(tensors), "mhc-lite", tensors, names, mhc_lite)

    names = block_names("layers", 2, ("0", "1"))
    tensors = stacked(names, lambda: hyper_tensors(N, True, 2))
    writer.add("hyper_connections_mhc.pt", collections.OrderedDict(tensors), "hyper-connections", tensors, names, hyper)
    names = block_names("layers", 2, ("hc_attn", "hc_ff"))
    tensors = stacked(names, lambda: hyper_tensors(N, False, 0))
    writer.add("hyper_connections.pt", {"weights": tensors}, "hyper-connections", tensors, names, hyper)

    names = block_names("blocks", 1, ("hc_attn", "hc_mlp"))
    tensors = stacked(names, lambda: s2hc_tensors(N))
    writer.add("s2hc.pt", tensors, "s2hc", tensors, names, s2hc)

    names = block_names("layers", 2, ("hc_attn", "hc_ffn"))
    tensors = {name + key: t for name in names for key, t in deepseek_tensors(N).items()}
    more = {"mtp.0.hc_attn" + key: t for key, t in deepseek_tensors(N).items()}
    more.update({"hc_head_fn": normal(N, C), "hc_head_base": normal(N), "hc_head_scale": normal(1)})
    writer.add("deepseek.safetensors", safetensors({**more, **tensors}), "deepseek-v4", tensors, names, deepseek)


def write_edelta_files(writer):
    def add(file, sublayers, tensors_of, connection, routed=False):
        names = block_names("core.transformer.h", 1, sublayers)
        tensors = stacked(names, tensors_of)
        if routed:
            tensors.update(stacked([name.replace("geo_", "router_") for name in names], lambda: router_tensors(N)))
        content = {"model": tensors, "optimizer": {"state": {0: {"step": 5, "exp_avg": normal(2)}}, "param_groups": []},
                   "iter_num": 100, "best_val_loss": 0.5, "config": {"n_streams": N, "task": "gyroscope"}}
        writer.add(file, content, "edelta", tensors, names, connection)

    add("edelta_hybrid.pt", ("geo_attn", "geo_mlp"), lambda: hybrid_tensors(N), hybrid)
    add("edelta_stream.pt", ("geo_attn", "geo_mlp"), lambda: stream_tensors(N), stream_hybrid, True)
    add("edelta_jpmhc.pt", ("jpmhc_attn", "jpmhc_mlp"), lambda: jpmhc_tensors(N), jpmhc)
    add("edelta_mhc.pt", ("mhc_attn", "mhc_mlp"), lambda: mhc_tensors(N, N * N, True), mhc)
    names = block_names("core.transformer.h", 1, ("delta_attn", "delta_mlp"))
    writer.write("edelta_ddl.pt", {"model": stacked(names, lambda: {**net("k_net", 8, 2, 8), **net("beta_net", 8, 2, 1)})})
    writer.write("trm.pt", {"_orig_mod.model.inner.H_init": normal(4), "_orig_mod.model.inner.lm_head.weight": normal(2, 4)})


def write_own_files(writer):
    def add(file, names, tensors, connection, config):
        cycles = config.get("cycles", 1)
        moment = normal(2)
        content = {"format": "spectra-training", "version": 1, "config": json.dumps(config), "iter_num": 3,
                   "best_val_loss": 0.25, "model": tensors,
                   "optimizer": {"first_moment": moment, "second_moment": moment}, "log": moment.view(1, 2),
                   "log_columns": "[\"step\", \"loss\"]", "pending": moment}
        writer.add(file, content, "spectra", tensors, names, connection, cycles)

    def config(architecture, **more):
        return {"task": "gyroscope", "architecture": architecture, "mixer": "", "layers": 1, "cycles": 1, "channels": C,
                "streams": N, "sinkhorn_iterations": 20, "sinkhorn_backward": "direct", "cayley_iterations": 2,
                "cayley_step": 0.1, **more}

    def hyper_file(file, name, mixer, config, square=False, sublayers=("_attn",)):
        names = block_names("core.transformer.h", 1, [name + sublayer for sublayer in sublayers])
        tensors = stacked(names, lambda: mhc_tensors(N, raw_size(mixer, N), square))
        add(file, names, tensors, own(mixer, config), config)

    hyper_file("spectra_mhc.ckpt", "mhc", "bistochastic", config("mhc"), square=True)
    hyper_file("spectra_mhc_sweeps.ckpt", "mhc", "bistochastic",
               config("mhc", sinkhorn_backward="unrolled", sinkhorn_iterations=3), square=True)
    hyper_file("spectra_mhc_lite.ckpt", "hc", "permutation", config("mhc-lite"))
    hyper_file("spectra_shc.ckpt", "hc", "spectral-sphere", config("shc"))
    hyper_file("spectra_hc.ckpt", "hc", "hyper", config("hc"))
    for mixer in ("identity", "orthogonal", "cayley", "cayley-hybrid", "rotation", "grassmann", "householder", "hyper"):
        hyper_file(f"spectra_{mixer}.ckpt", "hc", mixer, config("mixer", mixer=mixer))
    hyper_file("spectra_exact.ckpt", "hc", "cayley", config("mixer", mixer="cayley", cayley_iterations=0, cayley_step=0.5))
    hyper_file("spectra_recursive.ckpt", "hc", "cayley", config("recursive", mixer="cayley", cycles=3),
               sublayers=("_attn", "_mlp"))

    names = block_names("core.transformer.h", 1, ("jpmhc_attn",))
    add("spectra_jpmhc.ckpt", names, stacked(names, lambda: jpmhc_tensors(N)),
        lambda w, x: jpmhc(w, x, iterations=4, step=0.2), config("jpmhc", cayley_iterations=4, cayley_step=0.2))
    names = block_names("core.transformer.h", 1, ("geo_attn",))
    add("spectra_edelta.ckpt", names, stacked(names, lambda: hybrid_tensors(N)), hybrid, config("edelta"))
    tensors = stacked(names, lambda: stream_tensors(N))
    tensors.update(stacked([name.replace("geo_", "router_") for name in names], lambda: router_tensors(N)))
    add("spectra_edelta_stream.ckpt", names, tensors, stream_hybrid, config("edelta-stream"))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    writer = Writer(folder)
    write_hyper_files(writer)
    write_edelta_files(writer)
    write_own_files(writer)
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump({"state": STATE.tolist(), "files": writer.expected}, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
