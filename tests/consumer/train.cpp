#include <jacobian_spectra/jacobian/jacobian_law.hpp>
#include <jacobian_spectra/train/models/transformer.hpp>

#include <cmath>

// The Jacobian of y = (x_1, 2 x_2, 3 x_3) has the singular values 1, 2, 3; and the models are there.
int main() {
    const auto scale = torch::tensor({1.0, 2.0, 3.0}, torch::kDouble);
    const auto law = spectra::jacobian::jacobian_law([&](const torch::Tensor& x) { return x * scale; },
                                                     torch::ones({3}, torch::kDouble));
    const bool right = law.exact && law.log_values.size() == 3 &&
                       std::abs(std::exp(law.log_values.front()) - 1) < 1e-12 &&
                       std::abs(std::exp(law.log_values.back()) - 3) < 1e-12;
    return right && !spectra::train::architecture_names().empty() ? 0 : 1;
}
