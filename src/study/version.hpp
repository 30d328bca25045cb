#pragma once

/// What this binary is; the definitions are written at build time.
namespace spectra::version {

extern const char* const number;    ///< "0.1.0"
extern const char* const git;       ///< commit, or "unknown"
extern const char* const features;  ///< optional parts, one line
extern const char* const build;     ///< "Release"
extern const char* const compiler;  ///< "g++ 12.2.0"

}  // namespace spectra::version
