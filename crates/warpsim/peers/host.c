// Multiplies two n x n matrices with tiled.cl on the first OpenCL device, RUNS times, and prints the seconds of each
// launch on a line of its own. The first run also compiles; leave it out.
//
//     cc -O2 host.c -lOpenCL -o host && ./host SIZE RUNS tiled.cl

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(cl_int status, const char *what) {
    if (status != CL_SUCCESS) {
        fprintf(stderr, "%s failed: OpenCL error %d\n", what, status);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    char *text = calloc(1, 1 << 16);
    fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s SIZE RUNS KERNEL\n", argv[0]);
        return 2;
    }
    const int n = atoi(argv[1]), runs = atoi(argv[2]);
    const char *source = read_all(argv[3]);
    cl_int status;
    cl_platform_id platform;
    cl_device_id device;
    check(clGetPlatformIDs(1, &platform, NULL), "finding a platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "finding a device");
    char name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    fprintf(stderr, "%s\n", name);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "making a context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "making a queue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    check(status, "making a program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "compiling");
    cl_kernel kernel = clCreateKernel(program, "tiled", &status);
    check(status, "finding the kernel");

    const size_t bytes = (size_t)n * n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    for (int i = 0; i < n * n; ++i) {
        a[i] = (i * 2654435761u >> 8 & 255) / 255.0f - 0.5f;
        b[i] = (i * 40503u >> 8 & 255) / 255.0f - 0.5f;
    }
    cl_mem on_device[3];
    on_device[0] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, a, &status);
    check(status, "making a buffer");
    on_device[1] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, b, &status);
    check(status, "making a buffer");
    on_device[2] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    check(status, "making a buffer");
    for (int i = 0; i < 3; ++i)
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &on_device[i]), "setting an argument");
    for (int i = 3; i < 6; ++i)
        check(clSetKernelArg(kernel, i, sizeof n, &n), "setting an argument");
    const size_t global[] = {n, n}, local[] = {16, 16};
    for (int run = 0; run < runs; ++run) {
        const double start = now();
        check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "launching");
        check(clFinish(queue), "running");
        printf("%.6f\n", now() - start);
    }
    check(clEnqueueReadBuffer(queue, on_device[2], CL_TRUE, 0, bytes, c, 0, NULL, NULL), "reading back");
    double expected = 0;
    for (int k = 0; k < n; ++k)
        expected += (double)a[k] * b[k * n];
    if (fabs(c[0] - expected) > 1e-3) {
        fprintf(stderr, "c[0] is %f and should be %f\n", c[0], expected);
        return 1;
    }
    return 0;
}
