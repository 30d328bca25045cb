#include "montecarlo/sample/haar.hpp"

#include <lapacke.h>

#include <algorithm>
#include <cassert>
#include <functional>

namespace spectra::montecarlo {

BiInvariant::BiInvariant(int size) : size_(size) {
    const auto m = static_cast<std::size_t>(size);
    gaussian_.resize(m * m);
    reflections_.resize(m);
    double wanted_qr = 0;
    double wanted_left = 0;
    double wanted_right = 0;
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, size, size, gaussian_.data(), size, reflections_.data(), &wanted_qr,
                        -1);
    LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'N', size, size, size, gaussian_.data(), size,
                        reflections_.data(), gaussian_.data(), size, &wanted_left, -1);
    LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'R', 'T', size, size, size, gaussian_.data(), size,
                        reflections_.data(), gaussian_.data(), size, &wanted_right, -1);
    work_.resize(static_cast<std::size_t>(std::max({wanted_qr, wanted_left, wanted_right, 1.0})));
}

void BiInvariant::factorise_gaussian(random::Stream& stream) {
    stream.fill_normal(gaussian_);
    [[maybe_unused]] const auto info =
        LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, size_, size_, gaussian_.data(), size_, reflections_.data(),
                            work_.data(), static_cast<int>(work_.size()));
    assert(info == 0);
}

double BiInvariant::sign(std::size_t k) const {
    return gaussian_[k * (static_cast<std::size_t>(size_) + 1)] < 0 ? -1 : 1;
}

void BiInvariant::draw(std::span<const double> values, random::Stream& stream, double* out) {
    const auto m = static_cast<std::size_t>(size_);
    const auto apply = [&](char side, char transposed) {
        [[maybe_unused]] const auto info = LAPACKE_dormqr_work(
            LAPACK_COL_MAJOR, side, transposed, size_, size_, size_, gaussian_.data(), size_,
            reflections_.data(), out, size_, work_.data(), static_cast<int>(work_.size()));
        assert(info == 0);
    };
    std::fill_n(out, m * m, 0.0);
    factorise_gaussian(stream);
    for (std::size_t k = 0; k < m; ++k) out[k * (m + 1)] = sign(k) * values[k];
    apply('L', 'N');
    factorise_gaussian(stream);
    for (std::size_t k = 0; k < m; ++k)
        if (sign(k) < 0) std::transform(out + k * m, out + (k + 1) * m, out + k * m, std::negate{});
    apply('R', 'T');
}

}  // namespace spectra::montecarlo
