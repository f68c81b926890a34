"""Kernels that are the same although the two compilers name them differently."""

from __future__ import annotations

import pytest

from cass_pipeline.assembly.matching import KernelMatch, canonical_name, match_kernels


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("step(float4 const*, int)", "step(HIP_vector_type<float, 4u> const*, int)"),
        ("k(uchar3*)", "k(HIP_vector_type<unsigned char, 3u>*)"),
        ("k(ulonglong2)", "k(HIP_vector_type<unsigned long long, 2u>)"),
        ("k(__nv_bfloat16*)", "k(__hip_bfloat16*)"),
        ("k(__nv_bfloat162*)", "k(__hip_bfloat162*)"),
        ("k(curandStateXORWOW*)", "k(hiprandState*)"),
        ("_INTERNAL_0ab_4_a_cu_k::k(int*)", "k(int*)"),
        ("k(int*)", "k(int*) [clone .static.1f]"),
    ],
)
def test_names_of_the_same_kernel(cuda: str, hip: str) -> None:
    assert canonical_name(cuda) == canonical_name(hip)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("k(float4*)", "k(HIP_vector_type<float, 2u>*)"),
        ("k(float4*)", "k(HIP_vector_type<int, 4u>*)"),
        ("k(__half*)", "k(__hip_bfloat16*)"),
        ("a::k(int*)", "b::k(int*)"),
    ],
)
def test_names_of_different_kernels(one: str, other: str) -> None:
    assert canonical_name(one) != canonical_name(other)


def test_equal_mangled_names_match_whatever_else_there_is() -> None:
    cuda = {"_Z1kPf": "k(float*)", "_Z1kP6float2": "k(float2*)"}
    hip = {"_Z1kPf": "k(float*)", "_Z1kP15HIP": "k(HIP_vector_type<float, 2u>*)"}
    assert match_kernels(cuda, hip) == [
        KernelMatch("_Z1kP6float2", "_Z1kP15HIP"),
        KernelMatch("_Z1kPf", "_Z1kPf"),
    ]


def test_an_ambiguous_name_is_matched_to_nothing() -> None:
    cuda = {"x": "k(float2*)"}
    hip = {"y": "k(HIP_vector_type<float, 2u>*)", "z": "k(float2*)"}
    assert match_kernels(cuda, hip) == []
