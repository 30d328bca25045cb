#pragma once

// The only include of Torch's headers: they are third-party code (their warnings are off) and define
// macros with very common names.
#if defined(__GNUC__)
#pragma GCC system_header
#endif

#include <torch/torch.h>

#undef CHECK
#undef LOG

/// True for the given version of Torch and later.
#define SPECTRA_TORCH_AT_LEAST(major, minor) \
    (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))
