torch.save(x, "file")
