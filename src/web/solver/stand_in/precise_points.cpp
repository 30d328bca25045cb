// A page solves in double precision only: numbers of more digits would be a third of it, and laws that need them take minutes.
#include "dyson/law/precise_points.hpp"

namespace spectra::dyson {

bool has_precise_points(const Network&) {
    return false;
}

std::unique_ptr<Equation> precise_equation_of_law(const Network&) {
    return nullptr;
}

std::vector<PrecisePoint> precise_points(const Network&, const Tracker&, const std::vector<Complex>& omega,
                                         const std::function<void()>&) {
    return std::vector<PrecisePoint>(omega.size());
}

double change_by_rounding(const Network&, const Tracker&, const std::vector<Solution>&,
                          const std::function<void()>&) {
    return 0;  // no law was solved with more digits
}

}  // namespace spectra::dyson
