#pragma once

/// \file
/// Networks described in Python: by the fields of a request, by matrices, and by singular values of the branch.

#include "python/convert.hpp"

#include <cstdint>

namespace spectra::python {

/// A network, and what a simulation of it needs besides.
struct Described {
    study::DescribedNetwork is;
    std::uint64_t seed = 1;
    bool shared = false;

    const Network& network() const { return is.network; }
};

/// `fields` are those of study::Request that were given; `mixers`: matrices instead of a name or a file; `law`: sets of
/// singular values of the branch instead of a file.
Described describe(py::dict fields, const std::optional<Doubles>& mixers, const std::optional<BranchLaw>& law);

/// The mixers as an array (L, n, n).
py::array_t<double> mixer_array(const Described& described);

}  // namespace spectra::python
