#pragma once

/// \file
/// What an implementation of a hyper-connection was given and what it computed, and the file of it.

#include "validation/connection_scheme.hpp"
#include "weightfile/tensor_file.hpp"

#include <string>
#include <vector>

namespace spectra::validation {

/// What an implementation was given and what it computed.
struct ConnectionRecord {
    std::string name;                       ///< of its file
    ConnectionInput input;                  ///< raw numbers, states, settings
    std::vector<ConnectionOutput> outputs;  ///< one per token
};

/// Reads a record from a weight file with the tensors
///
///     fn (n² + 2n, n·p) · base (n² + 2n) · scale (3) · x (tokens, n, p) · branch (tokens, p)
///     pre (tokens, n) · mixer (tokens, n, n) · post (tokens, n) · output (tokens, n, p)
///
/// and, of one number each and only where they differ from 20, 1e-6 and 1e-6, sweeps · epsilon · norm_epsilon. Throws
/// std::invalid_argument where one is missing or has another shape, and where a number other than a result is not finite.
ConnectionRecord read_connection_record(const weightfile::TensorFile& file);

}  // namespace spectra::validation
