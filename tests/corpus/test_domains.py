from __future__ import annotations

from collections import Counter

import pytest

from cass_pipeline.corpus.domains import DOMAINS, OTHER, words_of
from cass_pipeline.corpus.domains import domain_of as domain_of_unit


def domain_of(text: str) -> str:
    return domain_of_unit({"main.cu": text}, "main.cu")


SAMPLES = {
    "linear algebra": """
        __global__ void matMulKernel(const float *a, const float *b, float *c, int n) {
          int row = blockIdx.y, col = threadIdx.x; float sum = 0;
          for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
          c[row * n + col] = sum; }""",
    "sparse": """
        __global__ void spmv_csr(const int *rowPtr, const int *colIdx, const float *v, float *y) {
          float dot = 0; for (int j = rowPtr[0]; j < rowPtr[1]; ++j) dot += v[j]; y[0] = dot; }""",
    "reduction and scan": """
        __global__ void reduce6(float *in, float *out) { extern __shared__ float partial[];
          partial[threadIdx.x] = in[threadIdx.x]; __syncthreads(); out[0] = partial[0]; }""",
    "sorting": "__global__ void bitonicSort(int *keys, int j, int k) { int ixj = j ^ k; }",
    "machine learning": """
        __global__ void softmax_forward(float *logits, float *out) { out[0] = expf(logits[0]); }""",
    "image and video": """
        __global__ void sobelFilter(uchar4 *image, int width, int height) {
          uchar4 pixel = image[0]; }""",
    "physics and simulation": """
        __global__ void bodyForce(Particle *p, float dt) { p->velocity += dt * p->mass; }""",
    "graph": "__global__ void bfs(int *frontier, int *edges, bool *visited) { }",
    "signal and Fourier transform": "#include <cufft.h>\nvoid run() { cufftExecC2C(plan, fft); }",
    "cryptography and hashing": "__global__ void sha256(unsigned *digest, unsigned nonce) { }",
    "random numbers and Monte Carlo": """
        #include <curand_kernel.h>
        __global__ void estimatePi(curandState *s) { float x = curand_uniform(s); }""",
    "strings and search": "__global__ void find(char *text, char *pattern) { kmp(text, pattern); }",
    "data movement": """
        __global__ void copyKernel(float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }""",
    OTHER: "__global__ void k(int *p) { *p = 1; }",
}


@pytest.mark.parametrize("domain", SAMPLES)
def test_typical_code_gets_its_domain(domain: str) -> None:
    assert domain_of(SAMPLES[domain]) == domain


def test_every_domain_has_a_sample() -> None:
    assert set(SAMPLES) == {*DOMAINS, OTHER}


def test_a_main_file_without_kernels_is_about_what_its_headers_define() -> None:
    files = {"main.cu": '#include "sort.cuh"', "sort.cuh": SAMPLES["sorting"]}
    assert domain_of_unit(files, "main.cu") == "sorting"


def test_comments_do_not_count() -> None:
    assert domain_of("// sobel blur image pixel\n__global__ void k() {}") == OTHER


def test_kernel_names_count_more_than_bodies() -> None:
    text = "__global__ void __launch_bounds__(256) bitonicSort(int n) { image(); pixel(); blur(); }"
    assert domain_of(text) == "sorting"


def test_a_word_repeated_often_does_not_outvote_others() -> None:
    assert domain_of("temperature(); " * 50) == OTHER


def test_identifiers_fall_into_words() -> None:
    assert words_of("matMulKernel") == {
        "mat",
        "mul",
        "kernel",
        "matmul",
        "mulkernel",
        "matmulkernel",
    }
    assert words_of("csr_SpMV2") >= {"csr", "spmv"}
    assert "fft" in words_of("runFFT_1D")


def test_no_word_stands_twice_and_every_word_can_be_met() -> None:
    words = Counter(
        word for weighted in DOMAINS.values() for text in weighted.values() for word in text.split()
    )
    assert [word for word, count in words.items() if count > 1] == []
    assert [word for word in words if word not in words_of(word)] == []
