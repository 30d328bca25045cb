raise Error("""torch.save( \" ' # """)
