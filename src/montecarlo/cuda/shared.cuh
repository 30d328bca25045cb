#pragma once

#include "montecarlo/cuda/runtime.cuh"
#include "montecarlo/sample/layer.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spectra::montecarlo::cuda {

/// What all samples of a run share of a layer, on the device; null where there is none.
template <class Real>
struct SharedLayer {
    const double* pre = nullptr;
    const double* post = nullptr;
    const double* law = nullptr;
    // Of an aligned branch (struct Kept), column-major with leading_dimension(rows):
    const Real* fixed = nullptr;       ///< m×m; Δ included where F is all of X
    const Real* left = nullptr;        ///< m×free
    const Real* right = nullptr;       ///< free×m: transposed
    const Real* derivative = nullptr;  ///< Δ, N×N, of a hyper-connection
};

/// The layers of a run, uploaded.
template <class Real>
class Shared {
public:
    const SharedLayer<Real>& operator[](std::size_t l) const { return layers_[l]; }

    void upload(const std::vector<Layer>& layers, const Stream& stream) {
        std::vector<double> numbers;
        std::vector<Real> matrices;
        struct Places {
            std::size_t pre = none, post = none, law = none, fixed = none, left = none, right = none,
                        derivative = none;
        };
        std::vector<Places> places;
        const auto append = [&](const auto& values) {
            const std::size_t place = numbers.size();
            numbers.insert(numbers.end(), values.begin(), values.end());
            return place;
        };
        const std::vector<double>* known = nullptr;
        for (const auto& layer : layers) {
            Places of;
            if (layer.hyper_connection()) {
                of.pre = append(layer.pre);
                of.post = append(layer.post);
            }
            if (layer.law) of.law = layer.law.get() == known ? places.back().law : append(*layer.law);
            known = layer.law.get();
            if (layer.kept) {
                const Kept& kept = *layer.kept;
                const bool adds = kept.add_left.cols() > 0;
                Eigen::MatrixXd fixed = kept.fixed;
                if (adds && !layer.hyper_connection()) fixed += kept.add_left * kept.add_right.transpose();
                of.fixed = append_matrix(matrices, fixed);
                if (layer.law) {
                    of.left = append_matrix(matrices, kept.left);
                    of.right = append_matrix(matrices, kept.right.transpose());
                }
                if (adds && layer.hyper_connection())
                    of.derivative = append_matrix(matrices, kept.add_left * kept.add_right.transpose());
            }
            places.push_back(of);
        }
        copy(numbers, numbers_, stream);
        copy(matrices, matrices_, stream);
        stream.wait();
        layers_.clear();
        for (const auto& of : places)
            layers_.push_back({at(numbers_, of.pre), at(numbers_, of.post), at(numbers_, of.law),
                               at(matrices_, of.fixed), at(matrices_, of.left), at(matrices_, of.right),
                               at(matrices_, of.derivative)});
    }

private:
    static constexpr auto none = static_cast<std::size_t>(-1);

    static std::size_t append_matrix(std::vector<Real>& to, const Eigen::MatrixXd& matrix) {
        const std::size_t place = to.size();
        const auto rows = static_cast<std::size_t>(leading_dimension(static_cast<int>(matrix.rows())));
        to.resize(place + rows * static_cast<std::size_t>(matrix.cols()));
        for (Eigen::Index j = 0; j < matrix.cols(); ++j)
            std::transform(
                matrix.col(j).begin(), matrix.col(j).end(),
                to.begin() + static_cast<std::ptrdiff_t>(place + rows * static_cast<std::size_t>(j)),
                [](double x) { return static_cast<Real>(x); });
        return place;
    }

    template <class T>
    static void copy(const std::vector<T>& from, Buffer<T>& to, const Stream& stream) {
        to = Buffer<T>(from.size());
        if (from.empty()) return;
        check(
            cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
            "cudaMemcpy");
    }

    template <class T>
    static const T* at(const Buffer<T>& buffer, std::size_t place) {
        return place == none ? nullptr : buffer.data() + place;
    }

    Buffer<double> numbers_;
    Buffer<Real> matrices_;
    std::vector<SharedLayer<Real>> layers_;
};

}  // namespace spectra::montecarlo::cuda
