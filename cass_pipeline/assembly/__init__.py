"""Device listings as data: split into functions, parsed into instructions, normalised.

`sass` reads what nvdisasm prints, `rdna3` what clang prints; both offer `normalise`, `split`,
`instructions` and `opcode_histogram`. Only the standard library is imported here, so that a
machine with a GPU and no data packages can use it.
"""
