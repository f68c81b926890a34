// SPDX-License-Identifier: MIT
//
// Sobel edge detection on an 8-bit grey image with a shared tile and a one-pixel
// halo. Each block counts its strong edges with __syncthreads_count, and one
// thread adds the count to a global counter.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t err = (call);                                                         \
        if (err != cudaSuccess) {                                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err));          \
            exit(EXIT_FAILURE);                                                           \
        }                                                                                 \
    } while (0)

#define TILE_W 16
#define TILE_H 16
#define HALO_W (TILE_W + 2)
#define HALO_H (TILE_H + 2)
#define THRESHOLD 200

typedef unsigned char Pixel;

__global__ void sobel(const Pixel *image, Pixel *edges, int width, int height, int *strong) {
    __shared__ Pixel tile[HALO_H][HALO_W];

    int x = blockIdx.x * TILE_W + threadIdx.x;
    int y = blockIdx.y * TILE_H + threadIdx.y;

    /* 256 threads load 18 x 18 pixels; what lies outside the image counts as black. */
    for (int i = threadIdx.y * TILE_W + threadIdx.x; i < HALO_W * HALO_H; i += TILE_W * TILE_H) {
        int tx = i % HALO_W, ty = i / HALO_W;
        int gx = (int)(blockIdx.x * TILE_W) + tx - 1;
        int gy = (int)(blockIdx.y * TILE_H) + ty - 1;
        bool inside = gx >= 0 && gx < width && gy >= 0 && gy < height;
        tile[ty][tx] = inside ? image[gy * width + gx] : 0;
    }
    __syncthreads();

    int magnitude = 0;
    if (x < width && y < height) {
        int cx = threadIdx.x + 1, cy = threadIdx.y + 1;
        int nw = tile[cy - 1][cx - 1], n = tile[cy - 1][cx], ne = tile[cy - 1][cx + 1];
        int w = tile[cy][cx - 1], e = tile[cy][cx + 1];
        int sw = tile[cy + 1][cx - 1], s = tile[cy + 1][cx], se = tile[cy + 1][cx + 1];
        int grad_x = (ne + 2 * e + se) - (nw + 2 * w + sw);
        int grad_y = (sw + 2 * s + se) - (nw + 2 * n + ne);
        magnitude = min((abs(grad_x) + abs(grad_y)) / 4, 255);
        edges[y * width + x] = (Pixel)magnitude;
    }

    int count = __syncthreads_count(magnitude >= THRESHOLD);
    if (threadIdx.x == 0 && threadIdx.y == 0 && count > 0) {
        atomicAdd(strong, count);
    }
}

static int pixel_or_black(const Pixel *image, int width, int height, int x, int y) {
    return (x < 0 || x >= width || y < 0 || y >= height) ? 0 : image[y * width + x];
}

static int sobel_reference(const Pixel *image, int width, int height, int x, int y) {
    static const int weights[3] = {1, 2, 1};
    int grad_x = 0, grad_y = 0;
    for (int i = -1; i <= 1; ++i) {
        grad_x += weights[i + 1] * (pixel_or_black(image, width, height, x + 1, y + i) -
                                    pixel_or_black(image, width, height, x - 1, y + i));
        grad_y += weights[i + 1] * (pixel_or_black(image, width, height, x + i, y + 1) -
                                    pixel_or_black(image, width, height, x + i, y - 1));
    }
    int magnitude = (abs(grad_x) + abs(grad_y)) / 4;
    return magnitude > 255 ? 255 : magnitude;
}

int main(void) {
    const int width = 251, height = 187;
    const size_t size = (size_t)width * height;
    Pixel *image = (Pixel *)malloc(size);
    Pixel *edges = (Pixel *)malloc(size);

    /* Discs and bars over a gradient. */
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            int dx = x % 61 - 30, dy = y % 53 - 26;
            int value = (x + y) / 4;
            if (dx * dx + dy * dy < 300) value = 255 - value / 2;
            if (x % 83 < 3) value = 20;
            image[y * width + x] = (Pixel)value;
        }
    }

    Pixel *d_image, *d_edges;
    int *d_strong;
    int strong = 0;
    CUDA_CHECK(cudaMalloc((void **)&d_image, size));
    CUDA_CHECK(cudaMalloc((void **)&d_edges, size));
    CUDA_CHECK(cudaMalloc((void **)&d_strong, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_image, image, size, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_strong, &strong, sizeof(int), cudaMemcpyHostToDevice));

    dim3 block(TILE_W, TILE_H);
    dim3 grid((width + TILE_W - 1) / TILE_W, (height + TILE_H - 1) / TILE_H);
    sobel<<<grid, block>>>(d_image, d_edges, width, height, d_strong);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(edges, d_edges, size, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&strong, d_strong, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_image));
    CUDA_CHECK(cudaFree(d_edges));
    CUDA_CHECK(cudaFree(d_strong));

    int result = 0, expected_strong = 0;
    long sum = 0;
    for (int i = 0; i < width * height && result == 0; ++i) { /* integers: exact */
        int expected = sobel_reference(image, width, height, i % width, i / width);
        if (edges[i] != expected) {
            printf("pixel (%d, %d) is %d, expected %d\n", i % width, i / width, edges[i], expected);
            result = 1;
        }
        expected_strong += expected >= THRESHOLD;
        sum += edges[i];
    }
    if (result == 0 && strong != expected_strong) {
        printf("%d strong edges, expected %d\n", strong, expected_strong);
        result = 1;
    }
    if (result == 0) printf("%d strong edge pixels, sum %ld\nPASS\n", strong, sum);
    free(image);
    free(edges);
    return result;
}
