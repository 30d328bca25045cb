#include "claims/jpmhc_mixers.hpp"

#include "claims/sampling.hpp"
#include "dyson/law/theory.hpp"
#include "linalg/eigen_instances.hpp"
#include "mixers/cayley.hpp"
#include "mixers/defects.hpp"
#include "mixers/gaussian.hpp"
#include "mixers/grassmann.hpp"
#include "mixers/orthogonal.hpp"
#include "mixers/permutation.hpp"
#include "mixers/sinkhorn.hpp"

#include <cmath>
#include <complex>
#include <ctime>
#include <map>
#include <set>

namespace spectra::claims::jpmhc {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using mixers::Permutation;

double largest_row_gain(const MatrixXd& a) {
    return a.cwiseAbs().rowwise().sum().maxCoeff();
}

double unconstrained_composite_gain(double epsilon, std::uint32_t sample) {
    auto random = stream(0, sample);
    MatrixXd composite = MatrixXd::Identity(4, 4);
    for (int layer = 0; layer < 60; ++layer)
        composite = (MatrixXd::Identity(4, 4) + epsilon * mixers::standard_normal(4, 4, random)) * composite;
    return largest_row_gain(composite);
}

/// Moduli of the eigenvalues, largest first.
std::vector<double> moduli(const MatrixXd& a) {
    const Eigen::EigenSolver<MatrixXd> solver(a, false);
    std::vector<double> out;
    for (const auto& value : solver.eigenvalues()) out.push_back(std::abs(value));
    std::sort(out.rbegin(), out.rend());
    return out;
}

/// Logits 0 on the diagonal and −8 off it: the start of mHC.
MatrixXd identity_like(int n) {
    return mixers::sinkhorn((-8 * (MatrixXd::Ones(n, n) - MatrixXd::Identity(n, n))).eval());
}

/// dim of the span of these matrices.
int span_of(const std::vector<Mixer>& matrices) {
    const auto entries = matrices.front().size();
    MatrixXd stacked(entries, static_cast<Eigen::Index>(matrices.size()));
    for (std::size_t k = 0; k < matrices.size(); ++k)
        stacked.col(static_cast<Eigen::Index>(k)) = matrices[k].reshaped();
    Eigen::ColPivHouseholderQR<MatrixXd> qr(stacked);
    qr.setThreshold(1e-9);
    return static_cast<int>(qr.rank());
}

int birkhoff_span(int n) {
    return span_of(bistochastic_mixers(n, 2 * n * n));
}

int orthogonal_span(int n) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::orthogonal;
    return span_of(draw_mixers(recipe, n, 2 * n * n));
}

MatrixXd skew_of_norm(double norm) {
    auto random = stream();
    const MatrixXd skew = mixers::draw_skew(4, random);
    return skew * (norm / mixers::spectral_norm(skew));
}

double median_orthogonality_defect(double scale) {
    mixers::Recipe recipe;
    recipe.family = mixers::Family::cayley;
    recipe.logit_scale = scale;
    std::vector<double> defects;
    for (const auto& mixer : draw_mixers(recipe, 4, 1000))
        defects.push_back(mixers::orthogonality_defect(mixer));
    return median(defects);
}

Permutation compose(const Permutation& a, const Permutation& b) {
    Permutation out(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[static_cast<std::size_t>(b[i])];
    return out;
}

/// All products of the generators.
std::set<Permutation> closure(const std::vector<Permutation>& generators) {
    Permutation identity(generators.front().size());
    for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<int>(i);
    std::set<Permutation> group{identity};
    std::vector<Permutation> fresh{identity};
    while (!fresh.empty()) {
        std::vector<Permutation> next;
        for (const auto& element : fresh)
            for (const auto& generator : generators)
                if (const auto found = compose(element, generator); group.insert(found).second)
                    next.push_back(found);
        fresh = std::move(next);
    }
    return group;
}

/// Calls body(subset) for every subset of four permutations, in order.
template <class Body>
void for_subsets_of_four(const std::vector<Permutation>& all, const Body& body) {
    const std::size_t count = all.size();
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = a + 1; b < count; ++b)
            for (std::size_t c = b + 1; c < count; ++c)
                for (std::size_t d = c + 1; d < count; ++d) body({all[a], all[b], all[c], all[d]});
}

/// Processor time of this thread: other programs do not make a search slower.
double thread_seconds() {
    std::timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Search {
    int subsets = 0, generating = 0, best = 0;
    double gap = 0, seconds = 0;
};

Search search(int n) {
    const double began = thread_seconds();
    Search out;
    for_subsets_of_four(mixers::all_permutations(n), [&](const std::vector<Permutation>& subset) {
        ++out.subsets;
        const double gap = spectral_gap(subset, n);
        if (gap < 1e-9) return;
        ++out.generating;
        if (gap > out.gap + 1e-9) {
            out.gap = gap;
            out.best = 0;
        }
        if (gap > out.gap - 1e-9) ++out.best;
    });
    out.seconds = thread_seconds() - began;
    return out;
}

const Search& search_of_four_streams() {
    static const Search found = search(4);
    return found;
}

/// Algorithm 9 with α = 0.01, β₁ = 0.9, s steps: without the QR of its last line, and W = ±(M̂Uᵀ − UM̂ᵀ).
struct GrassmannDescent {
    MatrixXd frame, momentum;
    double sign = 1;

    void step(const MatrixXd& gradient, double alpha = 0.01) {
        const MatrixXd horizontal = gradient - frame * (frame.transpose() * gradient);
        momentum = 0.9 * (momentum - frame * (frame.transpose() * momentum)) + 0.1 * horizontal;
        const MatrixXd w = sign * (momentum * frame.transpose() - frame * momentum.transpose());
        const MatrixXd one = MatrixXd::Identity(w.rows(), w.cols());
        frame = (one - alpha / 2 * w).lu().solve((one + alpha / 2 * w) * frame);
    }
};

struct SubspaceProblem {
    MatrixXd matrix, frame;
    double loss(const MatrixXd& u) const { return -(u.transpose() * matrix * u).trace(); }
    MatrixXd gradient(const MatrixXd& u) const { return -2 * matrix * u; }
};

SubspaceProblem subspace_problem() {
    auto random = stream();
    const MatrixXd g = mixers::standard_normal(4, 4, random);
    return {g + g.transpose(), mixers::orthonormalise(mixers::standard_normal(4, 2, random))};
}

/// The two fixed-point steps of Algorithm 9, as printed: Y = U + αM̂, then twice Y = U + (α/2)W(U + Y).
MatrixXd printed_step(const SubspaceProblem& problem, double alpha, double sign) {
    const MatrixXd& u = problem.frame;
    const MatrixXd gradient = problem.gradient(u);
    const MatrixXd m = 0.1 * (gradient - u * (u.transpose() * gradient));
    const MatrixXd w = sign * (m * u.transpose() - u * m.transpose());
    MatrixXd y = u + sign * alpha * m;
    for (int i = 0; i < 2; ++i) y = u + alpha / 2 * w * (u + y);
    return mixers::orthonormalise(y);
}

}  // namespace

Outcome unconstrained_gain() {
    std::vector<double> small, large;
    for (std::uint32_t sample = 0; sample < 101; ++sample) {
        small.push_back(unconstrained_composite_gain(0.1, sample));
        large.push_back(unconstrained_composite_gain(0.4, sample));
    }
    mixers::Recipe gaussian;
    gaussian.family = mixers::Family::gaussian;
    const double contracting = largest_row_gain(product(draw_mixers(gaussian, 4, 60)));
    // Growth with depth is shown; the gain of a 27 B model is not.
    return {median(large) > 3000 && median(small) > 1 ? Verdict::holds_in_part : Verdict::refuted,
            {computed("median gain of 60 mixers I + 0.1 G", median(small)),
             computed("median gain of 60 mixers I + 0.4 G", median(large), 3000),
             computed("gain of 60 mixers with entries N(0, 1/n)", contracting)}};
}

Outcome doubly_stochastic_norm() {
    double worst = 0;
    for (int n = 2; n <= 8; ++n)
        for (const double scale : {0.5, 1.0, 3.0})
            for (const auto& mixer : bistochastic_mixers(n, 50, scale))
                worst = std::max(worst, std::abs(mixers::spectral_norm(mixer) - 1));
    return {holds_if(worst < 1e-9), {vanishing("largest |‖P‖₂ − 1| of 1050 draws, n = 2 … 8", worst)}};
}

Outcome eigenvalue_contraction() {
    double perron = 0, second = 0;
    for (const auto& mixer : bistochastic_mixers(4, 200)) {
        const auto values = moduli(mixer);
        perron = std::max(perron, std::abs(values[0] - 1));
        second = std::max(second, values[1]);
    }
    const VectorXd composite = mixers::singular_values(product(bistochastic_mixers(4, 10)));
    return {holds_if(perron < 1e-9 && second < 1 && composite(1) < 1e-3),
            {vanishing("largest ||λ₁| − 1| of 200 draws, n = 4", perron),
             computed("largest |λ₂| of these draws", second),
             computed("second singular value of the product of 10 layers", composite(1)),
             computed("|λ₂| of a cyclic shift, a vertex of the polytope",
                      moduli(mixers::permutation_matrix({1, 2, 3, 0}))[1])}};
}

Outcome birkhoff_without_collapse() {
    const std::vector<Mixer> shifts(10, mixers::permutation_matrix({1, 2, 3, 0}));
    const auto law =
        dyson::solve(isotropic_network(shifts, 0.05), dyson::Method::operator_valued).law.metrics();
    const std::vector<Mixer> start(16, identity_like(4));
    const double kept = mixers::singular_values(product(start))(3);
    const bool escapes = law.collapsed < 1e-9 && kept > 0.9;
    return {holds_if(!escapes),
            {vanishing("share below 0.1 of ten permutation layers", law.collapsed),
             computed("share in [0.75, 1.25] of ten permutation layers", law.window),
             computed("smallest singular value of 16 mixers at mHC's start", kept)}};
}

Outcome orthogonal_closure() {
    mixers::Recipe exact;
    exact.family = mixers::Family::cayley;
    exact.cayley_iterations = std::nullopt;
    mixers::Recipe two_steps = exact;
    two_steps.cayley_iterations = 2;
    const double defect = mixers::orthogonality_defect(product(draw_mixers(exact, 4, 1000)));
    const double norm = mixers::spectral_norm(product(draw_mixers(two_steps, 4, 1000)));
    return {holds_if(defect < 1e-9),
            {vanishing("|QᵀQ − I| of the product of 1000 exact transforms", defect),
             computed("norm of the product of 1000 mixers of two steps, logit scale 1", norm)}};
}

Outcome span_dimensions() {
    Outcome out{Verdict::holds, {}};
    for (int n = 2; n <= 6; ++n) {
        const int orthogonal = orthogonal_span(n), birkhoff = birkhoff_span(n);
        if (orthogonal != n * n || birkhoff != (n - 1) * (n - 1) + 1) out.verdict = Verdict::refuted;
        out.numbers.push_back(counted("dim span O(" + std::to_string(n) + ")", orthogonal, n * n));
        out.numbers.push_back(counted("dim span of bistochastic matrices, n = " + std::to_string(n), birkhoff,
                                      (n - 1) * (n - 1) + 1));
    }
    return out;
}

Outcome printed_span_dimension() {
    Outcome out{Verdict::holds, {}};
    for (int q = 2; q <= 6; ++q) {
        const int found = birkhoff_span(q), printed = q * q - 2 * q;
        if (found != printed) out.verdict = Verdict::refuted;
        out.numbers.push_back(
            counted("dim span of bistochastic matrices, q = " + std::to_string(q), found, printed));
    }
    return out;
}

Outcome cayley_iteration_limit() {
    const auto distance = [](double norm, int steps) {
        const MatrixXd w = skew_of_norm(norm);
        return (mixers::cayley_iteration(w, 1, steps) - mixers::cayley_transform((w / 2).eval()))
            .cwiseAbs()
            .maxCoeff();
    };
    const double inside = distance(1.9, 800), outside = distance(2.1, 800), two = distance(0.4, 2);
    return {inside < 1e-9 && outside > 1 ? Verdict::holds_in_part : holds_if(inside < 1e-9),
            {vanishing("distance to the transform after 800 steps, α‖W‖ = 1.9", inside),
             {"the same at α‖W‖ = 2.1", outside, 1e-3 * outside, {}, {}},
             computed("after two steps, α‖W‖ = 0.4", two)}};
}

Outcome two_steps_are_orthonormal() {
    const double small = median_orthogonality_defect(0.1), half = median_orthogonality_defect(0.5),
                 one = median_orthogonality_defect(1), two = median_orthogonality_defect(2);
    const bool sometimes = small < 1e-3 && half < 1e-3, always = sometimes && one < 1e-3 && two < 1e-3;
    return {always      ? Verdict::holds
            : sometimes ? Verdict::holds_in_part
                        : Verdict::refuted,
            {computed("median ‖YᵀY − I‖ at logit scale 0.1", small, 1e-3),
             computed("at logit scale 0.5", half, 1e-3), computed("at logit scale 1", one, 1e-3),
             computed("at logit scale 2", two, 1e-3)}};
}

Outcome mapping_constraints() {
    auto random = stream();
    double rows = 0, columns = 0;
    for (int draw = 0; draw < 200; ++draw) {
        const MatrixXd logits = mixers::standard_normal(4, 4, random);
        MatrixXd pre(4, 4), post(4, 4);
        for (int i = 0; i < 4; ++i) {
            pre.row(i) = mixers::softmax(logits.row(i).transpose()).transpose();
            post.col(i) = mixers::softmax(logits.col(i));
        }
        rows = std::max(rows, mixers::row_sum_defect(pre));
        columns = std::max(columns, mixers::column_sum_defect(post));
    }
    const double orthogonality = median_orthogonality_defect(0.1);
    return {holds_if(rows < 1e-12 && columns < 1e-12 && orthogonality < 1e-3),
            {vanishing("largest |row sum of H_pre − 1|", rows),
             vanishing("largest |column sum of H_post − 1|", columns),
             computed("median ‖H_resᵀH_res − I‖, logit scale 0.1", orthogonality)}};
}

Outcome norm_and_determinant() {
    double formula = 0, largest = 0, small = 0, determinant = 0;
    for (const double m : {0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5}) {
        MatrixXd w = MatrixXd::Zero(2, 2);
        w << 0, m, -m, 0;
        const MatrixXd y = mixers::cayley_iteration(w, 1, 2);
        const double square = std::pow(mixers::spectral_norm(y), 2);
        formula = std::max(formula, std::abs(square - (1 - std::pow(m, 4) / 4 + std::pow(m, 6) / 16)));
        if (m <= 0.25) small = std::max(small, std::abs(square - 1));
        if (m <= 0.25) determinant = std::max(determinant, std::abs(y.determinant() - 1));
        largest = std::max(largest, square);
    }
    const bool near = small < 1e-3, everywhere = largest < 1.001;
    return {near && everywhere ? Verdict::holds
            : near             ? Verdict::holds_in_part
                               : Verdict::refuted,
            {vanishing("largest error of σ² = 1 − m⁴/4 + m⁶/16 after two steps", formula),
             computed("largest |σ² − 1| for m ≤ 1/4", small),
             computed("largest |det − 1| for m ≤ 1/4", determinant), computed("σ² at m = 2.5", largest)}};
}

Outcome doubly_stochastic_determinant() {
    double least = mixers::permutation_matrix({1, 0, 2, 3}).determinant(), most = least;
    int negative = 0;
    for (const auto& mixer : bistochastic_mixers(4, 1000)) {
        const double determinant = mixer.determinant();
        least = std::min(least, determinant);
        most = std::max(most, determinant);
        negative += determinant < 0 ? 1 : 0;
    }
    return {holds_if(least >= 0 && most <= 1),
            {computed("determinant of a transposition, the least of B₄", least, 0),
             {"draws of 1000 with a negative determinant", static_cast<double>(negative), 2, {}, {}}}};
}

int closure_size(const std::vector<std::vector<int>>& generators) {
    return static_cast<int>(closure(generators).size());
}

Outcome generators_of_s4() {
    const std::vector<Permutation> transpositions{{1, 0, 2, 3}, {0, 1, 3, 2}};
    auto with_cycle = transpositions;
    with_cycle.push_back({1, 2, 3, 0});
    const int two = closure_size(transpositions),
              all = closure_size({{1, 0, 2, 3}, {0, 2, 1, 3}, {0, 1, 3, 2}});
    const int basis = closure_size(with_cycle);
    return {two == 24     ? Verdict::holds
            : basis == 24 ? Verdict::holds_in_part
                          : Verdict::refuted,
            {counted("elements that the basis' two transpositions generate", two, 24),
             counted("with its 4-cycle", basis),
             counted("elements that all three adjacent transpositions generate", all)}};
}

Outcome grassmann_projector() {
    double worst = 0;
    int rank = 0;
    auto random = stream();
    for (int draw = 0; draw < 100; ++draw) {
        const MatrixXd p = mixers::draw_grassmann(4, 2, random);
        worst =
            std::max({worst, (p * p - p).cwiseAbs().maxCoeff(), (p - p.transpose()).cwiseAbs().maxCoeff()});
        rank = std::max(rank,
                        static_cast<int>(Eigen::ColPivHouseholderQR<MatrixXd>(p).setThreshold(1e-9).rank()));
    }
    return {holds_if(worst < 1e-9 && rank == 2),
            {vanishing("largest entry of P² − P and P − Pᵀ, 100 draws", worst), counted("rank", rank, 2)}};
}

Outcome cayley_adam_step() {
    const auto problem = subspace_problem();
    const double before = problem.loss(problem.frame);
    const MatrixXd climbed = printed_step(problem, 0.01, 1), descended = printed_step(problem, 0.01, -1);
    const double printed = problem.loss(climbed) - before, corrected = problem.loss(descended) - before;
    const double defect = (climbed.transpose() * climbed - MatrixXd::Identity(2, 2)).cwiseAbs().maxCoeff();
    return {holds_if(printed < 0),
            {computed("change of the loss by one step as printed", printed),
             computed("with the sign of W and M̂ reversed", corrected),
             vanishing("|UᵀU − I| after the step", defect)}};
}

Outcome horizontal_path() {
    const auto problem = subspace_problem();
    auto random = stream(1);
    const MatrixXd turn = mixers::draw_orthogonal(2, random);
    GrassmannDescent plain{problem.frame, MatrixXd::Zero(4, 2), -1},
        turned{problem.frame * turn, MatrixXd::Zero(4, 2), -1};
    double apart = 0;
    for (int k = 0; k < 50; ++k) {
        plain.step(problem.gradient(plain.frame));
        turned.step(problem.gradient(turned.frame));
        apart =
            std::max(apart, (plain.frame * plain.frame.transpose() - turned.frame * turned.frame.transpose())
                                .cwiseAbs()
                                .maxCoeff());
    }
    return {holds_if(apart < 1e-9), {vanishing("largest difference of UUᵀ over 50 steps", apart)}};
}

Outcome adam_atan2_scale() {
    const auto updates = [](double scale) {
        auto random = stream();
        std::vector<double> out;
        double m = 0, v = 0;
        for (int t = 1; t <= 100; ++t) {
            const double gradient = scale * (1 + random.normal());
            m = 0.9 * m + 0.1 * gradient;
            v = 0.95 * v + 0.05 * gradient * gradient;
            out.push_back(std::atan2(m / (1 - std::pow(0.9, t)), std::sqrt(v / (1 - std::pow(0.95, t)))));
        }
        return out;
    };
    const auto plain = updates(1), tiny = updates(1e-9);
    double apart = 0;
    for (std::size_t t = 0; t < plain.size(); ++t) apart = std::max(apart, std::abs(plain[t] - tiny[t]));
    return {holds_if(apart < 1e-9),
            {vanishing("largest change of 100 updates with gradients scaled by 1e-9", apart)}};
}

double spectral_gap(const std::vector<std::vector<int>>& generators, int n) {
    const auto all = mixers::all_permutations(n);
    if (closure(generators).size() != all.size()) return 0;
    std::map<Permutation, Eigen::Index> place;
    for (const auto& element : all) place.emplace(element, static_cast<Eigen::Index>(place.size()));
    const auto size = static_cast<Eigen::Index>(all.size());
    MatrixXd walk = MatrixXd::Zero(size, size);
    for (const auto& element : all)
        for (const auto& generator : generators)
            walk(place.at(element), place.at(compose(element, generator))) +=
                1.0 / static_cast<double>(generators.size());
    const auto values = moduli(walk);
    return values[0] - values[1];
}

Outcome spectral_gap_times() {
    const Search three = search(3);
    const Search& four = search_of_four_streams();
    // n = 5: the time of some of its sets, times their number.
    const auto all = mixers::all_permutations(5);
    const double began = thread_seconds();
    constexpr std::size_t tried = 10;
    for (std::size_t k = 0; k < tried; ++k)
        spectral_gap({all[1 + 7 * k], all[2 + 9 * k], all[3 + 11 * k], all[24]}, 5);
    const double each = (thread_seconds() - began) / tried;
    const double hours = each * 8214570 / 3600;
    // The order of magnitude: within a factor of 100 of what the table has.
    const bool same_order = three.seconds < 1 && four.seconds < 30 && hours < 100;
    return {holds_if(same_order),
            {timed("seconds at n = 3", three.seconds, 0.01), timed("seconds at n = 4", four.seconds, 0.3),
             timed("hours that n = 5 would take", hours, 1)}};
}

Outcome largest_spectral_gap() {
    const Search& found = search_of_four_streams();
    return {holds_if(found.gap > 0),
            {computed("largest |λ₁| − |λ₂| of four generators of S₄", found.gap),
             counted("sets that reach it", found.best),
             counted("sets of four that generate S₄ and mix", found.generating),
             counted("sets of four", found.subsets, 10626)}};
}

}  // namespace spectra::claims::jpmhc
