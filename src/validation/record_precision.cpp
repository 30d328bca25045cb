#include "validation/record_precision.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace spectra::validation {

using Eigen::VectorXd;

namespace {

/// Eleven bits; the exponent does not matter here.
bool is_half(double x) {
    int exponent = 0;
    const double digits = std::ldexp(std::frexp(x, &exponent), 11);
    return digits == std::floor(digits);
}

}  // namespace

bool is_float(double x) {
    return static_cast<double>(static_cast<float>(x)) == x;
}

bool is_bfloat(double x) {
    const auto single = static_cast<float>(x);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    return static_cast<double>(single) == x && (bits & 0xFFFFU) == 0;
}

VectorXd get_pre(const ConnectionOutput& o) {
    return o.pre;
}
VectorXd get_post(const ConnectionOutput& o) {
    return o.post;
}
VectorXd get_mixer(const ConnectionOutput& o) {
    return o.mixer.reshaped<Eigen::RowMajor>();
}
VectorXd get_output(const ConnectionOutput& o) {
    return o.output.reshaped<Eigen::RowMajor>();
}

bool all_of(const std::vector<ConnectionOutput>& outputs, const Get& get, bool (*holds)(double)) {
    for (const auto& output : outputs) {
        const VectorXd values = get(output);
        if (!std::all_of(values.begin(), values.end(), holds)) return false;
    }
    return true;
}

double unit_of(const std::vector<ConnectionOutput>& outputs) {
    return all_of(outputs, get_pre, is_float) && all_of(outputs, get_post, is_float) &&
                   all_of(outputs, get_mixer, is_float)
               ? float_unit
               : double_unit;
}

double output_unit(const std::vector<ConnectionOutput>& outputs) {
    if (all_of(outputs, get_output, is_bfloat)) return bfloat_unit;
    if (all_of(outputs, get_output, is_half)) return half_unit;
    return all_of(outputs, get_output, is_float) ? float_unit : double_unit;
}

double tolerance_of(const ConnectionInput& input, double unit) {
    const double terms = std::sqrt(static_cast<double>(input.projection.cols()));
    const double slope = input.scale.cwiseAbs().maxCoeff() * input.projection.rowwise().norm().maxCoeff();
    const double raw = 1 + input.bias.cwiseAbs().maxCoeff() + slope * terms;
    return 4 * unit * (32 + 2 * raw);
}

}  // namespace spectra::validation
