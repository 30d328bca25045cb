ops \
 . aten . # the rest
 save(x)
