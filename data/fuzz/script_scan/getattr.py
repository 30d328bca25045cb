f = getattr(torch, "sa" 've')
