"""What a unit is about, guessed from its words.

A heuristic, for browsing and for balanced samples; nothing in the pipeline depends on it. The
domain with the highest score wins, and `other` where no score is high enough. Comments do not
count, since licence texts and banners would outvote short kernels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from cass_pipeline.corpus.tokens import compared_tokens

OTHER = "other"
"""The domain of a unit whose words say too little."""

DOMAINS: dict[str, dict[int, str]] = {
    "linear algebra": {
        3: "gemm sgemm dgemm hgemm gemv sgemv matmul cublas cusolver cholesky syrk trsm axpy saxpy",
        2: "transpose eigen jacobi qr svd determinant matadd matrixmul matrixadd dotproduct",
        1: "matrix mat dot gram norm inverse tile tiled lu",
    },
    "sparse": {
        3: "spmv spmm csr coo csc cusparse bsr ellpack sddmm",
        2: "sparse nnz rowptr colidx rowoffsets colind",
        1: "nonzero nonzeros",
    },
    "reduction and scan": {
        3: "prefixsum exclusivescan inclusivescan blelloch hillis blockreduce warpreduce",
        2: "reduce reduction scan histogram prefix compact compaction",
        1: "sum partial bins bin accumulate",
    },
    "sorting": {
        3: "bitonic radixsort mergesort quicksort oddeven bucketsort sortkernel",
        2: "sort sorted radix",
        1: "merge keys pivot",
    },
    "machine learning": {
        3: "softmax relu gelu layernorm batchnorm rmsnorm attention cudnn backprop sgd adam lstm",
        2: "conv2d maxpool dropout logits embedding neuron neurons layer epoch sigmoid kmeans",
        1: "weights bias gradient grad activation forward backward train loss centroid tensor",
    },
    "image and video": {
        3: "sobel gaussianblur grayscale greyscale bilateral rgba mandelbrot julia raytrace opencv",
        2: "image pixel pixels blur rgb canny texture raytracer sphere ray brightness convolution",
        1: "filter channels color colour frame camera stride width height",
    },
    "physics and simulation": {
        3: "nbody navier stokes lattice boltzmann lbm fdtd ising molecular heatequation gameoflife",
        2: "life stencil particle particles velocity acceleration diffusion heat fluid pressure",
        1: "force mass energy temperature timestep grid2d laplacian dt position gravity boundary",
    },
    "graph": {
        3: "bfs sssp pagerank dijkstra bellman floyd warshall apsp",
        2: "graph vertex vertices edges frontier adjacency neighbor neighbour",
        1: "edge visited node nodes path",
    },
    "signal and Fourier transform": {
        3: "fft ifft cufft dft butterfly wavelet dct",
        2: "fourier twiddle spectrum signal fir convolve resample",
        1: "frequency samples window audio phase",
    },
    "cryptography and hashing": {
        3: "sha256 sha1 md5 aes keccak sha3 blake2 scrypt ethash secp256k1 chacha20",
        2: "cipher encrypt decrypt digest nonce hash crypto crc32 mining miner",
        1: "rotr rotl sbox key plaintext",
    },
    "random numbers and Monte Carlo": {
        3: "curand montecarlo mersenne xorshift philox blackscholes lcg",
        2: "random rng seed stochastic option sobol",
        1: "rand uniform gaussian walk pi",
    },
    "strings and search": {
        3: "levenshtein smithwaterman needleman kmp ahocorasick regex kmer",
        2: "substring search sequence dna genome alignment binarysearch wordcount",
        1: "string pattern match text query find",
    },
    # Not `memcpy`, `memset` or `stream`: every host program has them.
    "data movement": {
        3: "bandwidth p2p pinned copykernel zerocopy prefetch unifiedmemory",
        2: "bandwidthtest copy fill gather scatter coalesced strided unified",
        1: "transfer vecadd vectoradd vadd",
    },
}
"""Words by domain and weight. Words are those of `words_of`: lower case, without digits at the end
unless the whole name is meant."""

_COUNTED = 3  # further occurrences of a word say nothing new
_KERNEL_NAME = 3  # a kernel's name says more than its body
_LEAST_SCORE = 6
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


def domain_of(files: Mapping[str, str], main_path: str) -> str:
    """A key of `DOMAINS`, or `OTHER`. Equal scores go to the domain that stands first.

    Args:
        files: CUDA or HIP text by path; those count that deduplication compares.
        main_path: a key of `files`.
    """
    tokens = compared_tokens(files, main_path)
    counts = Counter(word for name in tokens if _NAME.match(name) for word in words_of(name))
    seen = {word: min(count, _COUNTED) for word, count in counts.items()}
    for word in {word for name in _kernel_names(tokens) for word in words_of(name)}:
        seen[word] += _KERNEL_NAME
    scores = {
        domain: sum(
            weight * seen.get(word, 0)
            for weight, words in weighted.items()
            for word in words.split()
        )
        for domain, weighted in DOMAINS.items()
    }
    best = max(scores, key=lambda domain: scores[domain])
    return best if scores[best] >= _LEAST_SCORE else OTHER


def words_of(name: str) -> set[str]:
    """The words of an identifier: its parts, neighbouring parts together, and the whole.

    `matMulKernel` has `mat`, `mul`, `kernel`, `matmul`, `mulkernel` and `matmulkernel`.
    """
    parts = [part.lower() for part in _PART.findall(name)]
    neighbours = (one + other for one, other in pairwise(parts))
    return {*parts, *neighbours, name.replace("_", "").lower()}


def _kernel_names(tokens: Sequence[str]) -> Iterator[str]:
    """The name before the parameters of each `__global__` function."""
    inside = False
    for name, following in pairwise(tokens):
        inside = inside or name == "__global__"
        # `__launch_bounds__(…)` and `__attribute__(…)` stand where a name could.
        if inside and following == "(" and _NAME.match(name) and not name.startswith("__"):
            inside = False
            yield name
