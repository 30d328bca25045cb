#include "montecarlo/sample/product.hpp"

#include "linalg/aligned.hpp"
#include "montecarlo/sample/forward.hpp"
#include "montecarlo/sample/haar.hpp"
#include "montecarlo/sample/sizes.hpp"
#include "random/stream.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace spectra::montecarlo {
namespace {

constexpr int panel_width = 128;  // even, so that a panel begins with a block of its random stream
constexpr int most_groups = 16;   // of panels that are added up; limits the number of useful threads

Eigen::VectorXd slopes(const Neurons& neurons, int size, random::Stream stream) {
    const auto& activation = neurons.activation;
    const double deviation = std::sqrt(neurons.preactivation_variance);
    Eigen::VectorXd out(size);
    for (double& slope : out) {
        slope = activation.kind == ActivationKind::bernoulli
                    ? (stream.uniform() < activation.probability ? 1 : 0)
                    : derivative(activation, deviation * stream.normal());
    }
    return out;
}

int factor_size(const Layer& layer, int streams, int width) {
    return layer.hyper_connection() ? width : streams * width;
}

}  // namespace

/// Workspace beside the factors.
struct Product::Room {
    explicit Room(int wanted) : threads(std::max(wanted, 1)) {}

    int threads;
    linalg::AlignedDoubles panel;             // one per thread
    linalg::AlignedDoubles in, product, sum;  // one per group of panels
    linalg::AlignedDoubles whole;             // a matrix of a given law that is not stored
    std::optional<BiInvariant> bi_invariant;
};

/// An m×m matrix in panels of columns: standard normals, or U diag(law) Vᵀ.
class Product::Factor {
public:
    Factor(int size, std::shared_ptr<const std::vector<double>> law, const random::Stream& stream)
        : size_(size), law_(std::move(law)), stream_(stream) {}

    bool of_law() const { return law_ != nullptr; }
    std::size_t bytes() const { return squared(size_) * sizeof(double); }

    /// Reads the stream to the end to find where each panel begins; two uniform numbers use the same block
    /// of it as two normals, in a fifth of the time.
    void find_panels() {
        if (law_) return;
        random::Stream stream = stream_;
        for (int begin = 0; begin < size_; begin += panel_width) {
            starts_.push_back(stream);
            const auto numbers = static_cast<std::size_t>(size_) * panel_width;
            if (begin + panel_width < size_)
                for (std::size_t k = 0; k < numbers; ++k) stream.uniform();
        }
    }

    void hold(Room& room) {
        held_.resize(squared(size_));
        write(held_.data(), room);
    }

    /// The whole matrix, m×m column-major.
    void write(double* out, Room& room) const {
        if (law_) {
            draw_law(room, out);
            return;
        }
        const int count = panels();
#pragma omp parallel for num_threads(room.threads) schedule(dynamic)
        for (int k = 0; k < count; ++k) fill(k, out + offset(k));
    }

    /// out = F in, or Fᵀ in.
    void apply(const Eigen::MatrixXd& in, Eigen::MatrixXd& out, bool transposed, Room& room) const {
        const double* whole = held_.empty() ? nullptr : held_.data();
        if (whole == nullptr && law_) {
            room.whole.resize(squared(size_));
            draw_law(room, room.whole.data());
            whole = room.whole.data();
        }
        if (whole == nullptr) room.panel.resize(static_cast<std::size_t>(room.threads) * offset(1));
        if (transposed) {
            apply_transpose(in, out, whole, room);
        } else {
            apply_forward(in, out, whole, room);
        }
    }

private:
    int width(int panel) const {
        return std::min(panel_width, size_ - panel * panel_width);
    }
    std::size_t offset(int panel) const {
        return static_cast<std::size_t>(panel) * panel_width * static_cast<std::size_t>(size_);
    }
    int panels() const {
        return (size_ + panel_width - 1) / panel_width;
    }

    /// Σ over panels of panel times rows: first within each of a few groups of neighbouring panels, then over
    /// groups.
    void apply_forward(const Eigen::MatrixXd& in, Eigen::MatrixXd& out, const double* whole,
                       Room& room) const {
        const int columns = static_cast<int>(in.cols());
        const int groups = std::min(panels(), most_groups);
        const auto block = static_cast<std::size_t>(columns) * static_cast<std::size_t>(size_);
        const auto rows = static_cast<std::size_t>(columns) * panel_width;
        room.in.resize(static_cast<std::size_t>(groups) * rows);
        room.product.resize(static_cast<std::size_t>(groups) * block);
        room.sum.resize(room.product.size());
#pragma omp parallel for num_threads(room.threads) schedule(dynamic)
        for (int g = 0; g < groups; ++g) {
            const auto own = static_cast<std::size_t>(g);
            double* const part = room.in.data() + own * rows;
            Eigen::Map<Eigen::VectorXd> product(room.product.data() + own * block,
                                                static_cast<Eigen::Index>(block));
            Eigen::Map<Eigen::VectorXd> sum(room.sum.data() + own * block, static_cast<Eigen::Index>(block));
            sum.setZero();
            for (int k = g * panels() / groups; k < (g + 1) * panels() / groups; ++k) {
                Eigen::Map<Eigen::MatrixXd>(part, width(k), columns) =
                    in.middleRows(k * panel_width, width(k));
                linalg::multiply(size_, width(k), columns, panel(k, whole, room), part, product.data());
                sum += product;
            }
        }
        out.setZero(size_, columns);
        for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g)
            out += Eigen::Map<const Eigen::MatrixXd>(room.sum.data() + g * block, size_, columns);
    }

    /// (inᵀ panel)ᵀ for every panel.
    void apply_transpose(const Eigen::MatrixXd& in, Eigen::MatrixXd& out, const double* whole,
                         Room& room) const {
        const int columns = static_cast<int>(in.cols());
        room.in.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(size_));
        room.product.resize(room.in.size());
        Eigen::Map<Eigen::MatrixXd>(room.in.data(), columns, size_) = in.transpose();
        const int count = panels();
#pragma omp parallel for num_threads(room.threads) schedule(dynamic)
        for (int k = 0; k < count; ++k) {
            const auto begin = static_cast<std::size_t>(columns) * static_cast<std::size_t>(k * panel_width);
            linalg::multiply(columns, size_, width(k), room.in.data(), panel(k, whole, room),
                     room.product.data() + begin);
        }
        out = Eigen::Map<const Eigen::MatrixXd>(room.product.data(), columns, size_).transpose();
    }

    /// From the whole matrix if it is stored, otherwise recomputed for this thread.
    const double* panel(int k, const double* whole, Room& room) const {
        if (whole != nullptr) return whole + offset(k);
        double* const out = room.panel.data() + static_cast<std::size_t>(omp_get_thread_num()) * offset(1);
        fill(k, out);
        return out;
    }
    void fill(int panel, double* out) const {
        random::Stream stream = starts_[static_cast<std::size_t>(panel)];
        stream.fill_normal({out, static_cast<std::size_t>(size_) * static_cast<std::size_t>(width(panel))});
    }
    void draw_law(Room& room, double* out) const {
        if (!room.bi_invariant || room.bi_invariant->size() != size_) room.bi_invariant.emplace(size_);
        random::Stream stream = stream_;
        room.bi_invariant->draw(*law_, stream, out);
    }

    int size_;
    std::shared_ptr<const std::vector<double>> law_;
    random::Stream stream_;
    std::vector<random::Stream> starts_;
    linalg::AlignedDoubles held_;
};

/// A layer; its branch is diag(slopes) · scale · F, or without slopes, read and written through pre and post.
struct Product::Step {
    Layer layer;
    const Factor* factor = nullptr;  // none without noise
    double scale = 0;
    Eigen::VectorXd slopes = {};
};

Product::Product(std::vector<Layer> layers, int streams, int width, std::uint64_t seed, std::uint32_t sample,
                 std::size_t memory, int threads)
    : streams_(streams), width_(width), size_(streams * width), room_(std::make_unique<Room>(threads)) {
    std::map<std::uint32_t, const Factor*> factor_of;  // by stream
    for (std::size_t index = 0; index < layers.size(); ++index) {
        const auto l = static_cast<std::uint32_t>(index);
        Step step{std::move(layers[index])};
        const auto& layer = step.layer;
        if (!layer.noiseless()) {
            const int size = factor_size(layer, streams, width);
            const std::uint32_t stream = layer.weights.value_or(l);
            if (!factor_of.contains(stream)) {
                factors_.push_back(std::make_unique<Factor>(
                    size, layer.law, random::Stream(seed, random::Purpose::branch, stream, sample)));
                factor_of[stream] = factors_.back().get();
            }
            step.factor = factor_of[stream];
            const double sigma = layer.neurons ? layer.neurons->sigma_w : layer.sigma;
            step.scale = layer.law ? sigma : sigma / std::sqrt(static_cast<double>(size));
            if (layer.neurons && !layer.propagated())
                step.slopes =
                    slopes(*layer.neurons, size_, random::Stream(seed, random::Purpose::slope, l, sample));
        }
        steps_.push_back(std::move(step));
    }
    const int count = static_cast<int>(factors_.size());
#pragma omp parallel for num_threads(room_->threads) schedule(dynamic)
    for (int k = 0; k < count; ++k) factors_[static_cast<std::size_t>(k)]->find_panels();
    hold(memory);
    propagate(seed, sample);

    // The size of the output, from one input vector.
    std::vector<double> in(static_cast<std::size_t>(size_));
    random::Stream(seed, random::Purpose::probe, (1U << 24U) - 1, sample).fill_normal(in);
    begin(in.data(), 1);
    for (const auto& step : steps_) {
        pass(step, false);
        rescale();
    }
    int shift = 0;
    std::frexp(block_.cwiseAbs().maxCoeff(), &shift);
    exponent_ = exponents_.front() + shift;
}

Product::~Product() = default;

std::size_t Product::bytes(const std::vector<Layer>& layers, int streams, int width) {
    std::size_t out = 0;
    std::set<std::uint32_t> seen;
    for (const auto& layer : layers) {
        if (layer.noiseless() || (layer.weights && !seen.insert(*layer.weights).second)) continue;
        out += squared(factor_size(layer, streams, width)) * sizeof(double);
    }
    return out;
}

void Product::hold(std::size_t memory) {
    for (const bool of_law : {true, false}) {
        for (const auto& factor : factors_) {
            if (factor->of_law() != of_law) continue;
            all_ += factor->bytes();
            if (held_ + factor->bytes() > memory) continue;
            factor->hold(*room_);
            held_ += factor->bytes();
        }
    }
}

void Product::propagate(std::uint64_t seed, std::uint32_t sample) {
    if (std::none_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.layer.propagated(); }))
        return;
    ForwardPass forward(streams_, width_);
    forward.begin(seed, sample);
    linalg::AlignedDoubles weights(squared(size_));
    linalg::AlignedDoubles found(static_cast<std::size_t>(size_));
    for (auto& step : steps_) {
        if (step.factor == nullptr) {
            forward.advance(step.layer);
            continue;
        }
        step.factor->write(weights.data(), *room_);
        for (double& x : weights) x *= step.scale;
        forward.advance(step.layer, weights.data(), found);
        step.slopes = Eigen::Map<const Eigen::VectorXd>(found.data(), size_);
    }
}

void Product::pass(const Step& step, bool transposed) {
    const auto& layer = step.layer;
    const auto columns = block_.cols();
    const Mixer mixer = transposed ? Mixer(layer.mixer.transpose()) : layer.mixer;
    const auto& reads = transposed ? layer.post : layer.pre;
    const auto& writes = transposed ? layer.pre : layer.post;
    // A column, viewed as p×n (one stream per column), is multiplied by Aᵀ from the right.
    const auto of_streams = [this](Eigen::MatrixXd& block, Eigen::Index column) {
        return Eigen::Map<Eigen::MatrixXd>(block.col(column).data(), width_, streams_);
    };
    next_.resize(size_, columns);
    for (Eigen::Index c = 0; c < columns; ++c)
        of_streams(next_, c).noalias() = of_streams(block_, c).lazyProduct(mixer.transpose());
    if (step.factor == nullptr) {
        std::swap(block_, next_);
        return;
    }
    if (layer.hyper_connection()) {
        read_.resize(width_, columns);
        for (Eigen::Index c = 0; c < columns; ++c)
            read_.col(c).noalias() = of_streams(block_, c).lazyProduct(reads);
    } else {
        read_ = block_;
        if (transposed && layer.neurons) read_.array().colwise() *= step.slopes.array();
    }
    step.factor->apply(read_, written_, transposed, *room_);
    written_ *= step.scale;
    if (layer.hyper_connection()) {
        for (Eigen::Index c = 0; c < columns; ++c)
            of_streams(next_, c).noalias() += written_.col(c).lazyProduct(writes.transpose());
    } else {
        if (!transposed && layer.neurons) written_.array().colwise() *= step.slopes.array();
        next_ += written_;
    }
    std::swap(block_, next_);
}

void Product::begin(const double* in, int columns) {
    block_ = Eigen::Map<const Eigen::MatrixXd>(in, size_, columns);
    long sum = 0;
    for (const auto& step : steps_) sum += step.layer.exponent;
    exponents_.assign(static_cast<std::size_t>(columns), sum);
    rescale();
}

/// Keeps the largest entry of every column within 2^±100.
void Product::rescale() {
    for (Eigen::Index c = 0; c < block_.cols(); ++c) {
        int shift = 0;
        std::frexp(block_.col(c).cwiseAbs().maxCoeff(), &shift);
        if (std::abs(shift) <= 100) continue;
        shift = std::clamp(shift, -1000, 1000);
        block_.col(c) *= std::ldexp(1.0, -shift);
        exponents_[static_cast<std::size_t>(c)] += shift;
    }
}

void Product::end(double* out) const {
    for (Eigen::Index c = 0; c < block_.cols(); ++c) {
        const long shift = std::clamp(exponents_[static_cast<std::size_t>(c)] - exponent_, -5000L, 5000L);
        Eigen::Map<Eigen::VectorXd>(out + c * size_, size_) =
            block_.col(c).unaryExpr([shift](double x) { return std::ldexp(x, static_cast<int>(shift)); });
    }
}

void Product::apply(const double* in, double* out, int columns) {
    begin(in, columns);
    for (const auto& step : steps_) {
        pass(step, false);
        rescale();
    }
    end(out);
}

void Product::apply_transpose(const double* in, double* out, int columns) {
    begin(in, columns);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        pass(*step, true);
        rescale();
    }
    end(out);
}

}  // namespace spectra::montecarlo
