#include "tasks/real_tasks.hpp"

#include "tasks/legacy_random.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace spectra::tasks {

namespace {

/// Destination of a sequence's inputs and targets; none if the sequence is drawn only to advance the
/// generator.
struct Rows {
    float* x = nullptr;
    float* y = nullptr;
};

using Plane = std::pair<std::size_t, std::size_t>;

Dataset room_for(std::int64_t train, std::int64_t validation, std::int64_t steps, std::int64_t dimension) {
    Dataset data;
    data.steps = steps;
    data.dimension = dimension;
    for (const auto& [split, count] : {std::pair{&data.train, train}, {&data.validation, validation}}) {
        split->count = count;
        split->x.resize(static_cast<std::size_t>(count * steps * dimension));
        split->y.resize(split->x.size());
    }
    return data;
}

Rows rows_of(const Dataset& data, Split& split, std::int64_t index) {
    const std::int64_t at = index * data.steps * data.dimension;
    return {split.x.data() + at, split.y.data() + at};
}

/// Training and validation from one stream: `published` training sequences (the first ones are kept), the
/// validation sequences, then further training sequences.
template <typename DrawSequence>
void fill_from_one_stream(Dataset& data, std::int64_t published, std::uint64_t seed, DrawSequence draw) {
    LegacyRandom random(static_cast<std::uint32_t>(seed));
    const auto kept = std::min(data.train.count, published);
    for (std::int64_t k = 0; k < kept; ++k) draw(random, rows_of(data, data.train, k));
    for (std::int64_t k = kept; k < published; ++k) draw(random, Rows{});
    for (std::int64_t k = 0; k < data.validation.count; ++k) draw(random, rows_of(data, data.validation, k));
    for (std::int64_t k = kept; k < data.train.count; ++k) draw(random, rows_of(data, data.train, k));
}

/// Training and validation from separate streams.
template <typename DrawSequence>
void fill_from_two_streams(Dataset& data, std::uint64_t seed, DrawSequence draw) {
    LegacyRandom random(static_cast<std::uint32_t>(seed));
    for (std::int64_t k = 0; k < data.train.count; ++k) draw(random, rows_of(data, data.train, k));
    random = LegacyRandom(static_cast<std::uint32_t>(seed + 1000));
    for (std::int64_t k = 0; k < data.validation.count; ++k) draw(random, rows_of(data, data.validation, k));
}

float* put(const std::vector<double>& state, float* row) {
    return std::transform(state.begin(), state.end(), row, [](double v) { return static_cast<float>(v); });
}

void draw_unit(LegacyRandom& random, std::vector<double>& state) {
    random.randn(state);
    double square = 0;
    for (const double v : state) square += v * v;
    const double norm = std::sqrt(square);
    for (double& v : state) v /= norm;
}

/// Repeats v ← Rv `steps` times; R turns each plane by the angle of cosine c and sine s. The other coordinates of a
/// matrix product are exact anyway.
void put_rotations(std::vector<double>& state, const std::vector<Plane>& planes, double c, double s,
                   std::int64_t steps, Rows rows) {
    for (std::int64_t t = 0; t < steps; ++t) {
        rows.x = put(state, rows.x);
        for (const auto& [i, j] : planes)
            std::tie(state[i], state[j]) =
                std::pair{c * state[i] - s * state[j], s * state[i] + c * state[j]};
        rows.y = put(state, rows.y);
    }
}

constexpr double gyroscope_slowest = 0.1;
constexpr double gyroscope_fastest = 2.5;

/// A causal predictor fails only at the first step, because two states give plane and angle. Its best guess
/// there is M v₀, M = E R, and v₀ is isotropic, so the loss is (1 − ‖M‖²_F / d) / d at one step of `steps`.
double gyroscope_floor(std::int64_t steps, std::int64_t dimension) {
    const double width = gyroscope_fastest - gyroscope_slowest;
    const double mean_cos = (std::sin(gyroscope_fastest) - std::sin(gyroscope_slowest)) / width;
    const double mean_sin = (std::cos(gyroscope_slowest) - std::cos(gyroscope_fastest)) / width;
    const auto d = static_cast<double>(dimension);
    std::vector<double> in_plane(static_cast<std::size_t>(dimension), 0.0);
    double square = 0;
    for (std::size_t i = 0; i + 1 < in_plane.size(); ++i)
        for (std::size_t j = i + 1; j < in_plane.size(); ++j) {
            const double probability = 1 / ((d - 1) * (d - 1 - static_cast<double>(i)));
            in_plane[i] += probability;
            in_plane[j] += probability;
            square += 2 * std::pow(probability * mean_sin, 2);  // M_ji = −M_ij
        }
    for (const double p : in_plane) square += std::pow(1 - p * (1 - mean_cos), 2);
    return (1 - square / d) / (d * static_cast<double>(steps));
}

/// c and s are the cosine and the sine of the angle.
Dataset make_near_pi(const TaskOptions& options, std::size_t plane_count, double c, double s) {
    Dataset data = room_for(options.samples.value_or(1000), 500, 127, 64);
    data.noise_floor = 0;
    std::vector<Plane> planes;
    for (std::size_t p = 0; p < plane_count; ++p) planes.emplace_back(2 * p, 2 * p + 1);
    std::vector<double> state(static_cast<std::size_t>(data.dimension));
    fill_from_two_streams(data, options.seed, [&](LegacyRandom& random, Rows rows) {
        draw_unit(random, state);
        put_rotations(state, planes, c, s, data.steps, rows);
    });
    return data;
}

}  // namespace

Dataset make_gyroscope(const TaskOptions& options) {
    constexpr std::int64_t published = 9000;
    Dataset data = room_for(options.samples.value_or(published), 1000, 255, 16);
    data.noise_floor = gyroscope_floor(data.steps, data.dimension);
    std::vector<double> state(static_cast<std::size_t>(data.dimension));
    fill_from_one_stream(data, published, options.seed, [&](LegacyRandom& random, Rows rows) {
        draw_unit(random, state);
        const double angle = random.uniform(gyroscope_slowest, gyroscope_fastest);
        const std::int64_t i = random.randint(0, data.dimension - 1);
        const std::int64_t j = random.randint(i + 1, data.dimension);
        if (rows.x != nullptr)
            put_rotations(state, {{static_cast<std::size_t>(i), static_cast<std::size_t>(j)}},
                          std::cos(angle), std::sin(angle), data.steps, rows);
    });
    return data;
}

Dataset make_stability(const TaskOptions& options) {
    constexpr std::int64_t published = 900;
    constexpr double noise = 0.001;
    Dataset data = room_for(options.samples.value_or(published), 100, 127, 64);
    data.noise_floor = noise * noise;
    std::vector<double> key(static_cast<std::size_t>(data.dimension));
    std::vector<double> state(key.size());
    fill_from_one_stream(data, published, options.seed, [&](LegacyRandom& random, Rows rows) {
        draw_unit(random, key);
        for (std::int64_t t = 0; t <= data.steps; ++t) {
            for (std::size_t k = 0; k < key.size(); ++k) state[k] = key[k] + random.randn() * noise;
            if (rows.x == nullptr) continue;
            if (t > 0) rows.y = put(state, rows.y);
            if (t < data.steps) rows.x = put(state, rows.x);
        }
    });
    return data;
}

Dataset make_near_pi_single(const TaskOptions& options) {
    return make_near_pi(options, 1, std::cos(3.10), std::sin(3.10));
}

Dataset make_near_pi_multi(const TaskOptions& options) {
    return make_near_pi(options, 32, std::cos(3.14), std::sin(3.14));
}

Dataset make_exact_pi(const TaskOptions& options) {
    return make_near_pi(options, 32, -1, 0);
}

Dataset make_reflection(const TaskOptions& options) {
    Dataset data = room_for(options.samples.value_or(500), 500, 1, 64);
    data.noise_floor = 0;
    std::vector<double> state(static_cast<std::size_t>(data.dimension));
    fill_from_two_streams(data, options.seed, [&](LegacyRandom& random, Rows rows) {
        random.randn(state);
        std::transform(rows.x, put(state, rows.x), rows.y, [](float v) { return -v; });
    });
    return data;
}

}  // namespace spectra::tasks
