"""Products with a Jacobian, by automatic differentiation of a live model."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np
import torch

Function = Callable[[torch.Tensor], torch.Tensor]


def out_of_memory(error: BaseException) -> bool:
    """Whether a device has no memory left."""
    kinds = tuple(kind for kind in (getattr(torch.cuda, "OutOfMemoryError", None), getattr(torch, "OutOfMemoryError", None))
                  if kind is not None)
    return isinstance(error, kinds) if kinds else "out of memory" in str(error)


def one_line(error: BaseException) -> str:
    """Torch's message without its call stack."""
    return str(error).strip().split("\n")[0][:300]


class NotFinite(ValueError):
    """The model gives infinities or NaN: it has diverged, say."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: the model gives infinities or NaN at this input")


class Products:
    """J = ∂y/∂x of y = f(x), vectors to vectors, by its products with rows: graph and memory are kept between them.

    Jᵀu is a backward pass. Jv is a backward pass through that one: the derivative of Jᵀu · v by u. Where an operation
    of the model cannot be differentiated twice, Jv is found by forward-mode differentiation instead.
    """

    def __init__(self, f: Function, x: torch.Tensor, what: str, state_size: int) -> None:
        self._f: Function | None = f
        self._what = what
        self._part: Function = lambda gradient: gradient
        self.x = self._node = x.detach().clone().requires_grad_(True)
        self.y = self._outputs(self.x)
        self._prepare(state_size)

    @classmethod
    def of_graph(cls, node: torch.Tensor, part: Function, y: torch.Tensor, what: str, state_size: int) -> Products:
        """The same where the graph exists: x is a part of one of its tensors."""
        out = cls.__new__(cls)
        out._f, out._what, out._part, out._node, out.y = None, what, part, node, y
        out.x = part(node).detach()
        out._prepare(state_size)
        return out

    def _prepare(self, state_size: int) -> None:
        if not self.y.requires_grad:
            raise ValueError(f"{self._what}: the result does not depend on the state by differentiable operations; "
                             "is there a torch.no_grad() or detach() inside the model?")
        self.inputs, self.outputs = self.x.numel(), self.y.numel()
        self._seed: torch.Tensor | None = None
        self._pulled: torch.Tensor | None = None
        self._forward_mode = self._checked = False
        self._batched = True
        budget = (4 << 30) if self.x.is_cuda else (256 << 20)
        self._rows = int(max(1, min(512, budget // max(1, 320 * state_size))))

    def _outputs(self, x: torch.Tensor) -> torch.Tensor:
        try:
            assert self._f is not None
            return self._f(x)
        except RuntimeError as error:
            if out_of_memory(error):
                raise MemoryError(one_line(error)) from None
            raise ValueError(f"{self._what}: the model cannot be run for a derivative: {one_line(error)}") from error

    def pull(self, u: torch.Tensor) -> torch.Tensor:
        """Rows Jᵀu of rows u, in double precision on the device of x."""
        return self._by_blocks(self._back, u.to(self.y.device, self.y.dtype)).to(self.x.device, torch.float64)

    def push(self, v: torch.Tensor) -> torch.Tensor:
        """Rows Jv of rows v, in double precision on the device of x."""
        v = v.to(self.x.device, self.x.dtype)
        if not self._forward_mode and self._pulled is None:
            self.start_push()
        product = self._along if self._forward_mode else self._twice
        return self._by_blocks(product, v).to(self.x.device, torch.float64)

    def matrix(self) -> torch.Tensor:
        """J itself, (outputs, inputs), in double precision on the host."""
        out = torch.empty(self.outputs, self.inputs, dtype=torch.float64)
        for first in range(0, self.outputs, self._rows):
            count = min(self._rows, self.outputs - first)
            rows = torch.zeros(count, self.outputs, dtype=self.y.dtype, device=self.y.device)
            rows[torch.arange(count), torch.arange(first, first + count)] = 1
            out[first:first + count] = self.pull(rows).cpu()
        return out

    def one_by_one(self, u: torch.Tensor) -> torch.Tensor:
        """Rows Jᵀu by one backward pass each: a check of pull()."""
        u = u.to(self.y.device, self.y.dtype)
        rows = [self._part(row) for row in self._loop(self.y, self._node, u)]
        return torch.stack(rows).to(torch.float64)

    def _gradient(self, y: torch.Tensor, x: torch.Tensor, u: torch.Tensor, batched: bool) -> torch.Tensor:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "There is a performance drop": the result is right
            (out,) = torch.autograd.grad(y, x, u, retain_graph=True, is_grads_batched=batched, allow_unused=True)
        if out is None:
            shape = (u.shape[0], *x.shape) if batched else x.shape
            return torch.zeros(shape, dtype=x.dtype, device=x.device)
        return out

    def _back(self, u: torch.Tensor) -> torch.Tensor:
        rows = self._rows_of(self.y, self._node, u)
        return torch.stack([self._part(row) for row in rows]) if self._f is None else rows

    def _twice(self, v: torch.Tensor) -> torch.Tensor:
        assert self._pulled is not None and self._seed is not None
        return self._rows_of(self._pulled, self._seed, v)

    def _rows_of(self, y: torch.Tensor, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        if self._batched and u.shape[0] > 1:
            try:
                return self._gradient(y, x, u, True)
            except RuntimeError as error:
                if out_of_memory(error):
                    raise
                self._batched = False  # an operation without a batching rule
        return self._loop(y, x, u)

    def _loop(self, y: torch.Tensor, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        try:
            return torch.stack([self._gradient(y, x, row, False) for row in u])
        except RuntimeError as error:
            if out_of_memory(error):
                raise
            raise ValueError(f"{self._what}: {self._refusal(error)}") from error

    @staticmethod
    def _refusal(error: RuntimeError) -> str:
        text = one_line(error)
        if "heckpoint" in text:
            return f"switch gradient checkpointing off first ({text})"
        if "_transformer_encoder_layer_fwd" in text or "fused" in text:
            return f"a fused operation has no derivative; use the model's plain attention ({text})"
        return f"the model cannot be differentiated here: {text}"

    def start_push(self, forward: bool = False, check: bool = True) -> None:
        """Prepares push(), which does it where it was not done. `forward` differentiates forwards from the start: fewer
        operations, but the model runs again for every product. Without `check`, the first product is not compared with
        pull()."""
        if forward:
            self._forward_mode, self._checked = True, not check
            return
        seed = torch.zeros_like(self.y, requires_grad=True)
        try:
            (gradient,) = torch.autograd.grad(self.y, self._node, seed, create_graph=True, allow_unused=True)
            if gradient is None or not gradient.requires_grad:
                raise RuntimeError("not differentiable twice")
            pulled = self._part(gradient)
            # An operation that is differentiable once may be left out without an error: compare with Jᵀu.
            if check and not self._adjoint(lambda v: self._gradient(pulled, seed, v, False)):
                raise RuntimeError("an operation cannot be differentiated twice")
            self._seed, self._pulled = seed, pulled
        except RuntimeError as error:
            if out_of_memory(error):
                raise MemoryError(one_line(error)) from None
            if self._f is None:
                raise ValueError(f"{self._what}: {self._refusal(error)}") from error
            self._forward_mode = True

    def _adjoint(self, push: Function) -> bool:
        """Whether u·(Jv) = (Jᵀu)·v to rounding, for one u and one v."""
        generator = torch.Generator().manual_seed(1)
        u = torch.randn(self.outputs, generator=generator, dtype=torch.float64).to(self.y.device, self.y.dtype)
        v = torch.randn(self.inputs, generator=generator, dtype=torch.float64).to(self.x.device, self.x.dtype)
        image = push(v)
        pulled = self._part(self._gradient(self.y, self._node, u, False))
        if not bool(torch.isfinite(image).all() & torch.isfinite(pulled).all()):
            raise NotFinite(self._what)
        defect = abs(float((u * image).sum()) - float((pulled * v).sum()))
        tolerance = {torch.float64: 1e-8, torch.float32: 1e-2}.get(self.y.dtype, 0.2)
        return defect <= tolerance * float(u.norm() * image.norm()) + 1e-300

    def _along(self, v: torch.Tensor) -> torch.Tensor:
        import torch.autograd.forward_ad as forward_ad

        out = []
        assert self._f is not None
        try:
            for row in v:
                with forward_ad.dual_level():
                    y = self._f(forward_ad.make_dual(self.x.detach(), row))
                    tangent = forward_ad.unpack_dual(y).tangent
                out.append(torch.zeros_like(self.y) if tangent is None else tangent.detach())
            if not self._checked:
                self._checked = True
                if not self._adjoint(lambda one: self._along(one.unsqueeze(0))[0]):
                    raise NotImplementedError("an operation has a wrong forward derivative")
        except (RuntimeError, NotImplementedError) as error:
            raise ValueError(f"{self._what}: Jv needs an operation that can be differentiated twice, or forwards; "
                             f"this model has neither: {one_line(error)}; measure one token of at most 4096 numbers, "
                             "which needs neither") from error
        return torch.stack(out)

    def _by_blocks(self, product: Callable[[torch.Tensor], torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
        out = []
        first = 0
        while first < rows.shape[0]:
            try:
                out.append(product(rows[first:first + self._rows]))
                first += self._rows
            except RuntimeError as error:
                if not out_of_memory(error):
                    raise
                if self._rows == 1:
                    raise MemoryError(one_line(error)) from None
                self._rows = max(1, self._rows // 2)
        return torch.cat(out)


class Shifted:
    """J − A ⊗ I for square J, by its products: the branch of a connection with mixer A."""

    def __init__(self, products: Products, mixer: np.ndarray) -> None:
        self._products = products
        self._mixer = torch.as_tensor(mixer, dtype=torch.float64, device=products.x.device)
        self.x, self.y = products.x, products.y
        self.inputs, self.outputs = products.inputs, products.outputs

    def _mixed(self, rows: torch.Tensor, mixer: torch.Tensor) -> torch.Tensor:
        n = mixer.shape[0]
        return torch.einsum("ij,rjp->rip", mixer, rows.reshape(rows.shape[0], n, -1)).reshape(rows.shape)

    def push(self, v: torch.Tensor) -> torch.Tensor:
        """Rows Xv of rows v."""
        return self._products.push(v) - self._mixed(v.to(self._mixer), self._mixer)

    def pull(self, u: torch.Tensor) -> torch.Tensor:
        """Rows Xᵀu of rows u."""
        return self._products.pull(u) - self._mixed(u.to(self._mixer), self._mixer.T)


Operator = Any  # Products or Shifted
