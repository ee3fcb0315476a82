// Memory from the device heap.

struct Shape {
    virtual __device__ int area() const = 0;
    virtual __device__ ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Shape {
    int width, height;
    __device__ Box(int width, int height) : width(width), height(height) {}
    __device__ int area() const override { return width * height; }
};

// Every thread sums an array of its own length, taken and given back many times.
extern "C" __global__ void arrays(int *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int round = 0; round < 20; round++) {
        int *own = new int[t + 1];
        for (int i = 0; i <= t; i++) own[i] = i + round;
        for (int i = 0; i <= t; i++) sum += own[i];
        delete[] own;
    }
    out[t] = sum;
}
extern "C" __global__ void objects(int *out) {
    int t = threadIdx.x;
    Shape *shape = t % 3 ? (Shape *)new Box(t, 2) : (Shape *)new Square(t);
    out[t] = shape->area();
    delete shape;
}
// One thread takes it, all use it.
extern "C" __global__ void together(int *out) {
    __shared__ int *common;
    if (threadIdx.x == 0) common = (int *)malloc(blockDim.x * sizeof(int));
    __syncthreads();
    common[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = common[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(common);
}
extern "C" __global__ void too_much(int *out) {
    void *first = malloc(7 << 20), *second = malloc(2 << 20);
    free(first);
    void *third = malloc(2 << 20);
    out[0] = (first != nullptr) + 2 * (second != nullptr) + 4 * (third != nullptr) + 8 * (malloc(0) != nullptr);
}
extern "C" __global__ void twice(int *out) {
    int *p = (int *)malloc(4);
    out[0] = p != nullptr;
    free(p);
    free(p);
}
extern "C" __global__ void unwritten(int *out) {
    int *p = (int *)malloc(64);
    out[threadIdx.x] = p[threadIdx.x];
}
