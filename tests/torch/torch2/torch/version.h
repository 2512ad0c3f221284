/* The version that tests/torch/backend2.cpp is compiled as. */
#pragma once
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 9
