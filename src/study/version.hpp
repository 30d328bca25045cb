#pragma once

/// What this binary is; the definitions are written at build time.
namespace spectra::version {

extern const char* const number;    ///< "0.1.0"
extern const char* const git;       ///< commit, or "unknown"
extern const char* const features;  ///< compiler and optional parts, one line

}  // namespace spectra::version
