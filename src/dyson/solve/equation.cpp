#include "dyson/solve/equation.hpp"

namespace spectra::dyson {

Unknowns Equation::mix(const std::vector<const Unknowns*>& values, const double* weights) const {
    const Eigen::Index size = values.front()->size();
    Unknowns result(size);
    for (Eigen::Index i = 0; i < size; ++i) {
        Complex sum = 0;
        for (std::size_t k = 0; k < values.size(); ++k) sum += weights[k] * std::log((*values[k])(i));
        result(i) = std::exp(sum);
    }
    return result;
}

}  // namespace spectra::dyson
