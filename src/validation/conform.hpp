#pragma once

/// \file
/// Is one implementation of a hyper-connection the same as another? If not, what is wrong with it?

#include "validation/connection_record.hpp"

#include <string>
#include <vector>

namespace spectra::validation {

/// The largest difference of one result between two records.
struct ResultDifference {
    std::string name;      ///< pre, mixer, post, output
    double largest = 0;    ///< absolute
    double tolerance = 0;  ///< that rounding explains
};

/// Whether two implementations are the same.
struct Conformity {
    bool conforms = false;  ///< the candidate computes what the reference does
    std::string scheme;     ///< of the reference, in words: "DeepSeek-V4"; "" where it is none known
    std::vector<std::string> findings;  ///< what is wrong, one line each; "unknown: …" where it has no name
    std::vector<std::string> notes;     ///< differences without effect
    std::vector<ResultDifference> differences;  ///< of all four results
};

/// Compares two records of the same raw numbers and states. What an implementation does is found by computing the
/// connection in every known way (ConnectionScheme) from the raw numbers, in double precision: the way that reproduces
/// its results with the fewest changes to the reference's is taken, unless another fits four times better. Rounding is
/// judged by the coarsest format (double, float) that holds the results exactly. Mixers, pre and post that bfloat16 holds
/// exactly, and that fit to its rounding only, are reported as such.
///
/// Throws std::invalid_argument where the records are not comparable: other sizes, raw numbers, states or settings.
Conformity conform(const ConnectionRecord& reference, const ConnectionRecord& candidate);

}  // namespace spectra::validation
