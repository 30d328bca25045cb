#include "train/modules/streams.hpp"

#include "checks.hpp"
#include "fast_kernels_check.hpp"

namespace spectra::train {
namespace {

using testing::normal;
using testing::Tensors;
using torch::Tensor;

struct StreamCase {
    int64_t batch, tokens, streams, width;
    int64_t offset = 0;
};

/// Stream by stream; an undefined matrix is the identity, y has one stream or all.
Tensor plain_write(const Tensor& matrix, const Tensor& x, const Tensor& post, const Tensor& y) {
    const auto n = post.size(-1);
    const auto streams = x.chunk(n, -1), added = y.chunk(y.size(-1) == x.size(-1) ? n : 1, -1);
    Tensors out;
    for (int64_t i = 0; i < n; ++i) {
        auto total = post.narrow(-1, i, 1) * added[added.size() == 1 ? 0 : i];
        for (int64_t j = 0; j < n; ++j) {
            if (matrix.defined())
                total = total + matrix.select(-2, i).narrow(-1, j, 1) * streams[j];
            else if (i == j)
                total = total + streams[j];
        }
        out.push_back(total);
    }
    return torch::cat(out, -1);
}

Tensor plain_read(const Tensor& pre, const Tensor& x, bool all_streams) {
    const auto n = pre.size(-1);
    const auto streams = x.chunk(n, -1);
    auto total = pre.narrow(-1, 0, 1) * streams[0];
    for (int64_t i = 1; i < n; ++i) total = total + pre.narrow(-1, i, 1) * streams[i];
    return all_streams ? torch::cat(Tensors(n, total), -1) : total;
}

void expect_sums(torch::Device device, const StreamCase& c) {
    SCOPED_TRACE(std::to_string(c.batch) + " x " + std::to_string(c.tokens) + " tokens, " +
                 std::to_string(c.streams) + " streams of " + std::to_string(c.width) + ", behind " +
                 std::to_string(c.offset));
    torch::manual_seed(1);
    const auto n = c.streams;
    const auto x = normal({c.batch, c.tokens, n * c.width}), weights = normal({c.batch, c.tokens, n});
    const auto check = [&](const testing::StepMap& map, const testing::StepMap& formula,
                           const Tensors& arguments) {
        testing::expect_formula(map, formula, arguments, device, 1e-5, c.offset);
    };
    for (const bool all : {false, true}) {
        SCOPED_TRACE(all);
        check([&](const Tensors& a) { return Tensors{read_streams(a[0], a[1], all)}; },
              [&](const Tensors& a) { return Tensors{plain_read(a[0], a[1], all)}; }, {weights, x});
        const auto y = normal({c.batch, c.tokens, (all ? n : 1) * c.width});
        check([](const Tensors& a) { return Tensors{write_streams({}, a[0], a[1], a[2])}; },
              [](const Tensors& a) { return Tensors{plain_write({}, a[0], a[1], a[2])}; }, {x, weights, y});
        for (const int64_t matrices : {c.tokens, int64_t{1}})
            check([](const Tensors& a) { return Tensors{write_streams(a[0], a[1], a[2], a[3])}; },
                  [](const Tensors& a) { return Tensors{plain_write(a[0], a[1], a[2], a[3])}; },
                  {normal({c.batch, matrices, n, n}), x, weights, y});
    }
    const auto mixed = [](const Tensors& a) {
        const auto none = torch::zeros({a[1].size(0), a[1].size(1), a[0].size(-1)}, a[1].options());
        return Tensors{plain_write(a[0], a[1], none, torch::zeros_like(a[1]))};
    };
    check([](const Tensors& a) { return Tensors{apply_mixer(a[0], a[1])}; }, mixed,
          {normal({c.batch, c.tokens, n, n}), x});
}

TEST(Streams, AreSummedStreamByStream) {
    for (const int64_t n : {1, 2, 4})
        for (const int64_t width : {1, 3, 8}) expect_sums(torch::kCPU, {2, 3, n, width});
}

/// Numbers of streams and widths that have kernels and others; rows that do not fill a block.
TEST(StreamsOnCuda, AreSummedStreamByStream) {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "Torch finds no GPU";
    for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9})
        for (const int64_t width : {3, 4, 12, 32, 64, 100, 128, 260})
            for (const int64_t tokens : {1, 5, 67}) expect_sums(torch::kCUDA, {2, tokens, n, width});
    expect_sums(torch::kCUDA, {64, 255, 4, 128});
    for (const int64_t offset : {1, 2, 3}) expect_sums(torch::kCUDA, {2, 33, 4, 32, offset});
}

}  // namespace
}  // namespace spectra::train
