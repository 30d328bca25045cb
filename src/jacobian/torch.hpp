#pragma once

/// \file
/// Torch's headers, without their warnings and without the macros of very common names.

// The only way Torch's headers come in: they are foreign code (its warnings are not ours) and define
// macros of very common names.
#if defined(__GNUC__)
#pragma GCC system_header
#endif

#include <torch/torch.h>
#if SPECTRA_NCCL  // of train/data_parallel.cpp alone: this header logs by the macro that goes below
#ifndef USE_C10D_NCCL
#define USE_C10D_NCCL
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#undef CHECK
#undef LOG

/// True for the given version of Torch and later.
#define SPECTRA_TORCH_AT_LEAST(major, minor) \
    (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))
