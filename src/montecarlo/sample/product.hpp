#pragma once

#include "linalg/blas.hpp"
#include "montecarlo/sample/layer.hpp"
#include "linalg/golub_kahan.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace spectra::montecarlo {

/// The Jacobian J = Y_L ··· Y_1 that Sampler draws, from the same random numbers, but never formed: J =
/// 2^exponent() times the operator. Blocks pass through the layers one by one, with columns rescaled by
/// powers of two, so that depth does not overflow.
///
/// F of a layer (m×m, m = N, or p for a hyper-connection; layer.hpp) is stored as long as all stored ones
/// take at most `memory` bytes, the first layers first; the others are recomputed from their streams at every
/// application, one panel of columns at a time. Factors with a given law, which take O(m³) operations to
/// draw, are stored before all Gaussian ones. Layers with the same weights share one.
///
/// The result does not depend on which factors are stored or on the number of threads: panels have the same
/// width and are added up in the same order.
class Product : public linalg::LinearOperator {
public:
    Product(std::vector<Layer> layers, int streams, int width, std::uint64_t seed, std::uint32_t sample,
            std::size_t memory, int threads = 1);
    ~Product() override;

    int size() const override { return size_; }
    long exponent() const { return exponent_; }
    /// Bytes of the stored factors, and of all factors.
    std::size_t held() const { return held_; }
    std::size_t all() const { return all_; }

    void apply(const double* in, double* out, int columns) override;
    void apply_transpose(const double* in, double* out, int columns) override;

    /// Bytes for storing all layers.
    static std::size_t bytes(const std::vector<Layer>& layers, int streams, int width);

private:
    class Factor;
    struct Step;
    struct Room;

    void hold(std::size_t memory);
    /// Slopes of the network run forward (forward.hpp); needs an N×N matrix meanwhile.
    void propagate(std::uint64_t seed, std::uint32_t sample);
    /// block_ ← (mixer ⊗ I_p + X) block_, or its transpose.
    void pass(const Step& step, bool transposed);
    void begin(const double* in, int columns);
    void rescale();
    void end(double* out) const;

    int streams_, width_, size_;
    long exponent_ = 0;
    std::size_t held_ = 0, all_ = 0;
    linalg::SingleThreadedBlas single_threaded_;
    std::vector<std::unique_ptr<Factor>> factors_;
    std::vector<Step> steps_;
    std::unique_ptr<Room> room_;
    Eigen::MatrixXd block_, next_;  // N×columns
    Eigen::MatrixXd read_, written_;
    std::vector<long> exponents_;  // of the columns of block_
};

}  // namespace spectra::montecarlo
