// dyson/law/aligned_law needs LAPACK, and the vectors of a trained model, which the page does not have.

#include "dyson/law/aligned_law.hpp"

#include <stdexcept>

namespace spectra::dyson {

AlignedLaw solve_aligned(const Network& /*network*/, std::unique_ptr<Equation> /*equation*/,
                         double /*log_upper*/, const AlignedOptions& /*options*/) {
    throw std::logic_error("aligned branches are not solved in a browser");
}

}  // namespace spectra::dyson
