"""Small models with the module names, calls and results of the libraries that users have: transformers, torchvision,
PyTorch's own, and codes of hyper-connections."""

from collections import OrderedDict
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


class _Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, hidden_states, attention_mask=None):
        batch, tokens, width = hidden_states.shape
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for part in self.c_attn(hidden_states).split(width, dim=2))
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        if self.causal:
            scores = scores.masked_fill(torch.ones(tokens, tokens, dtype=torch.bool, device=scores.device).triu(1), float("-inf"))
        if attention_mask is not None:
            scores = scores + attention_mask
        out = scores.softmax(-1) @ v
        return self.c_proj(out.transpose(1, 2).reshape(batch, tokens, width)), None


class GPT2Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = _Attention(width, 2, causal=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, hidden_states, layer_past=None, attention_mask=None, use_cache=False):
        hidden_states = hidden_states + self.attn(self.ln_1(hidden_states), attention_mask=attention_mask)[0]
        hidden_states = hidden_states + self.mlp(self.ln_2(hidden_states))
        return (hidden_states, None)


@dataclass
class ModelOutput:
    last_hidden_state: torch.Tensor
    hidden_states: tuple = None


class GPT2Model(nn.Module):
    """wte, wpe, h, ln_f; blocks return tuples; called with input_ids=…; returns a dataclass with all hidden states."""

    def __init__(self, layers=3, width=16, words=11):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(32, width)
        self.drop = nn.Dropout(0.1)
        self.h = nn.ModuleList([GPT2Block(width) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)

    def forward(self, input_ids, attention_mask=None):
        hidden_states = self.drop(self.wte(input_ids) + self.wpe(torch.arange(input_ids.shape[1], device=input_ids.device)))
        if attention_mask is not None:
            attention_mask = (1.0 - attention_mask[:, None, None, :].to(hidden_states.dtype)) * -1e4
        every = ()
        for block in self.h:
            every = every + (hidden_states,)
            hidden_states = block(hidden_states, layer_past=None, attention_mask=attention_mask)[0]
        return ModelOutput(self.ln_f(hidden_states), every)


class GPT2LMHeadModel(nn.Module):
    """transformer.h and a head whose weights are those of the embedding."""

    def __init__(self, **sizes):
        super().__init__()
        self.transformer = GPT2Model(**sizes)
        self.lm_head = nn.Linear(*self.transformer.wte.weight.shape[::-1], bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, input_ids, attention_mask=None):
        return {"logits": self.lm_head(self.transformer(input_ids, attention_mask).last_hidden_state)}


class LlamaRMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, hidden_states):
        before = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        hidden_states = hidden_states * torch.rsqrt(hidden_states.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * hidden_states.to(before)


class LlamaDecoderLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.self_attn = _Attention(width, 2, causal=True)
        self.gate_proj, self.up_proj = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.down_proj = nn.Linear(2 * width, width, bias=False)
        self.input_layernorm, self.post_attention_layernorm = LlamaRMSNorm(width), LlamaRMSNorm(width)

    def forward(self, hidden_states, attention_mask=None, position_ids=None, past_key_value=None, **kwargs):
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states))[0]
        if past_key_value is not None:
            past_key_value.append(hidden_states)
        x = self.post_attention_layernorm(hidden_states)
        return (hidden_states + self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x)),)


class LlamaModel(nn.Module):
    """embed_tokens, layers, norm; layers are called by keywords alone and share a cache; the norm works in float32."""

    def __init__(self, layers=3, width=16, words=11):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, width)
        self.layers = nn.ModuleList([LlamaDecoderLayer(width) for _ in range(layers)])
        self.norm = LlamaRMSNorm(width)

    def forward(self, input_ids):
        hidden_states, cache = self.embed_tokens(input_ids), []
        for layer in self.layers:
            hidden_states = layer(hidden_states=hidden_states, attention_mask=None, past_key_value=cache)[0]
        return OrderedDict(last_hidden_state=self.norm(hidden_states), past_key_values=cache)


class BertLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = _Attention(width, 2, causal=False)
        self.intermediate, self.output = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, hidden_states, attention_mask=None, head_mask=None):
        hidden_states = self.first(hidden_states + self.attention(hidden_states, attention_mask)[0])
        return (self.second(hidden_states + self.output(F.gelu(self.intermediate(hidden_states)))),)


class BertModel(nn.Module):
    """embeddings, encoder.layer, pooler; post-norm, every token sees every other."""

    def __init__(self, layers=2, width=12, words=11):
        super().__init__()
        self.embeddings = nn.Embedding(words, width)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList([BertLayer(width) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, input_ids, attention_mask=None):
        x = self.embeddings(input_ids)
        for layer in self.encoder.layer:
            x = layer(x, None, None)[0]
        return x, torch.tanh(self.pooler(x[:, 0]))


class ViTModel(nn.Module):
    """Patches by a convolution outside the blocks, encoder.layer inside."""

    def __init__(self, layers=2, width=12):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList([GPT2Block(width) for _ in range(layers)])
        for block in self.encoder.layer:
            block.attn.causal = False
        self.layernorm = nn.LayerNorm(width)

    def forward(self, pixel_values):
        x = self.patches(pixel_values).flatten(2).transpose(1, 2)
        for block in self.encoder.layer:
            x = block(x)[0]
        return self.layernorm(x)


class BasicBlock(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside)
        self.conv2, self.bn2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None if stride == 1 and inside == outside else nn.Sequential(
            nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    """torchvision's names: conv1, bn1, layer1, layer2, fc; operations in place, batch norms."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu = nn.Conv2d(3, 4, 3, 1, 1), nn.BatchNorm2d(4), nn.ReLU(inplace=True)
        self.layer1 = nn.Sequential(BasicBlock(4, 4, 1), BasicBlock(4, 4, 1))
        self.layer2 = nn.Sequential(BasicBlock(4, 8, 2), BasicBlock(8, 8, 1))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.layer2(self.layer1(self.relu(self.bn1(self.conv1(x)))))
        return self.fc(x.mean((2, 3)))


class CNBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, groups=width), nn.Conv2d(width, 2 * width, 1),
                                   nn.GELU(), nn.Conv2d(2 * width, width, 1))
        self.layer_scale = nn.Parameter(torch.full((width, 1, 1), 0.1))

    def forward(self, x):
        return x + self.layer_scale * self.block(x)


class ConvNeXt(nn.Module):
    """torchvision's features: a stem, stages of blocks, and downsampling between them that belongs to no block."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 2, 2), nn.Sequential(CNBlock(4), CNBlock(4)),
                                      nn.Conv2d(4, 6, 2, 2), nn.Sequential(CNBlock(6), CNBlock(6), CNBlock(6)))

    def forward(self, x):
        return self.features(x).mean((2, 3))


class HyperBlock(nn.Module):
    """X' = A X + post ⊗ F(pre · X) on (batch, tokens, streams, channels)."""

    def __init__(self, streams, width):
        super().__init__()
        self.H_res = nn.Parameter(torch.linalg.qr(torch.randn(streams, streams))[0])
        self.pre = nn.Parameter(torch.full((streams,), 1.0 / streams))
        self.post = nn.Parameter(torch.ones(streams))
        self.branch = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, x):
        read = torch.einsum("s,btsd->btd", self.pre, x)
        return torch.einsum("ij,btjd->btid", self.H_res, x) + self.post[:, None] * self.branch(read)[:, :, None, :]


class HyperModel(nn.Module):
    def __init__(self, layers=3, streams=4, width=16):
        super().__init__()
        self.embed = nn.Linear(5, width)
        self.streams = streams
        self.blocks = nn.ModuleList([HyperBlock(streams, width) for _ in range(layers)])

    def forward(self, x):
        x = self.embed(x)[:, :, None, :].expand(-1, -1, self.streams, -1).contiguous()
        for block in self.blocks:
            x = block(x)
        return x.mean(2)


class FoldedHyperModel(nn.Module):
    """Streams folded into the batch: (batch·streams, tokens, channels)."""

    def __init__(self, layers=2, streams=3, width=8):
        super().__init__()
        self.streams = streams
        self.blocks = nn.ModuleList([FoldedHyperBlock(streams, width) for _ in range(layers)])

    def forward(self, x):
        x = x.repeat_interleave(self.streams, 0)
        for block in self.blocks:
            x = block(x)
        return x.view(-1, self.streams, *x.shape[1:]).mean(1)


class FoldedHyperBlock(nn.Module):
    def __init__(self, streams, width):
        super().__init__()
        self.inner = HyperBlock(streams, width)

    def forward(self, residuals):
        streams = self.inner.H_res.shape[0]
        x = residuals.view(-1, streams, *residuals.shape[1:]).transpose(1, 2)
        return self.inner(x).transpose(1, 2).reshape(residuals.shape)


class PairModel(nn.Module):
    """Lists of (attention, MLP) whose sums the model adds itself: blocks without a forward()."""

    def __init__(self, layers=3, width=12):
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleList([
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width)),
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.Tanh())]) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for attention, mlp in self.layers:
            x = attention(x) + x
            x = mlp(x) + x
        return self.norm(x)


class LoopedModel(nn.Module):
    """One block applied again and again: weights shared over depth."""

    def __init__(self, loops=3, width=8):
        super().__init__()
        block = GPT2Block(width)
        self.blocks = nn.ModuleList([block] * loops)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)[0]
        return x


class EncoderDecoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.encoder, self.decoder = nn.Module(), nn.Module()
        self.encoder.block = nn.ModuleList([GPT2Block(width) for _ in range(2)])
        self.decoder.block = nn.ModuleList([GPT2Block(width) for _ in range(2)])

    def forward(self, x):
        for block in [*self.encoder.block, *self.decoder.block]:
            x = block(x)[0]
        return x
