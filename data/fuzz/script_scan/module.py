class Net(Module):
  __parameters__ = ["weight", ]
  training : bool
  def forward(self: __torch__.Net, x: Tensor) -> Tensor:
    # torch.save(x, "no call")
    weight = self.weight
    _0 = torch.matmul(x, torch.t(weight))
    return ops.aten.add(_0, getattr(self, "bias"), alpha=1)
