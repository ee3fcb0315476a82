#pragma once
// What nvcc declares before the first line of a file, through cuda_runtime.h and the host's headers.
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#include "math.h"
#include "stdint.h"
namespace std {}
