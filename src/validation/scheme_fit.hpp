#pragma once

#include "validation/connection_record.hpp"

#include <array>
#include <optional>
#include <vector>

/// Which ways to compute a hyper-connection reproduce given results.
namespace spectra::validation {

/// How far a computed result is from a given one.
struct Residual {
    double largest = 0, mean_square = 0;
};

/// A record, and what all schemes have in common of it. The record must outlive it.
class Fit {
public:
    explicit Fit(const ConnectionRecord& record)
        : record_(&record), projected_(projected_states(record.input)) {}

    Residual of_pre(const ConnectionScheme& scheme) const;
    Residual of_post(const ConnectionScheme& scheme) const;
    Residual of_mixer(const ConnectionScheme& scheme) const;

private:
    template <class Make, class Result>
    Residual residual(const ConnectionScheme& scheme, ConnectionScheme::Slice slice, Make make,
                      Result result) const;

    const ConnectionRecord* record_;
    Eigen::MatrixXd projected_;
};

/// The tolerance of each result that schemes differ in.
struct Tolerances {
    double pre = 0, post = 0, mixer = 0;
};

/// A scheme that reproduces the results, and what it leaves.
struct Explanation {
    ConnectionScheme scheme;
    std::array<double, 3> mean_squares{};  ///< of pre, post and mixer, in units of the tolerances
};

/// Every scheme that reproduces the results to the tolerances. Passes and the way the mixer is applied are those of
/// `base`.
std::vector<Explanation> explanations(const Fit& fit, const ConnectionScheme& base,
                                      const Tolerances& tolerances);

/// The number of differences, and one for a mixer that is kept transposed without effect.
std::size_t changes(const ConnectionScheme& a, const ConnectionScheme& b);

/// The explanation with the fewest changes, unless another fits four times better. Below half a unit of rounding, none
/// is better than another: `floor`, in units of the tolerances.
std::optional<Explanation> simplest(std::vector<Explanation> all, const ConnectionScheme& base, double floor);

}  // namespace spectra::validation
