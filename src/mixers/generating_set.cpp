#include "mixers/generating_set.hpp"

#include "linalg/eigen_instances.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

namespace spectra::mixers {
namespace {

constexpr int most_streams = 6;
constexpr double most_sets = 2e7;
constexpr double tie = 1e-9;

using Eigen::MatrixXd;

/// A partition's standard tableaux, each as the row of 1, 2, …, n.
using Tableau = std::vector<int>;

void add_partitions(int rest, int largest, std::vector<int>& parts, std::vector<std::vector<int>>& all) {
    if (rest == 0) all.push_back(parts);
    for (int part = std::min(rest, largest); part >= 1; --part) {
        parts.push_back(part);
        add_partitions(rest - part, part, parts, all);
        parts.pop_back();
    }
}

void add_tableaux(const std::vector<int>& shape, int n, std::vector<int>& filled, Tableau& rows,
                  std::vector<Tableau>& all) {
    if (static_cast<int>(rows.size()) == n) all.push_back(rows);
    for (std::size_t row = 0; row < shape.size(); ++row) {
        const bool fits = filled[row] < shape[row] && (row == 0 || filled[row - 1] > filled[row]);
        if (!fits) continue;
        ++filled[row];
        rows.push_back(static_cast<int>(row));
        add_tableaux(shape, n, filled, rows, all);
        rows.pop_back();
        --filled[row];
    }
}

/// column − row of the place of entry k (from 0).
int content(const Tableau& rows, int k) {
    const auto end = rows.begin() + k;
    const int row = *end;
    return static_cast<int>(std::count(rows.begin(), end, row)) - row;
}

/// The transposition of entries i and i + 1 (from 0).
MatrixXd adjacent_transposition(const std::vector<Tableau>& tableaux, int i) {
    const auto d = static_cast<Eigen::Index>(tableaux.size());
    MatrixXd s = MatrixXd::Zero(d, d);
    for (Eigen::Index t = 0; t < d; ++t) {
        const auto& rows = tableaux[static_cast<std::size_t>(t)];
        const double r = content(rows, i + 1) - content(rows, i);
        s(t, t) = 1 / r;
        Tableau swapped = rows;
        std::swap(swapped[static_cast<std::size_t>(i)], swapped[static_cast<std::size_t>(i) + 1]);
        const auto other = std::find(tableaux.begin(), tableaux.end(), swapped);
        if (swapped != rows && other != tableaux.end())
            s(t, other - tableaux.begin()) = std::sqrt(1 - 1 / (r * r));
    }
    return s;
}

Permutation composed(const Permutation& g, const Permutation& h) {
    Permutation gh(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) gh[i] = g[static_cast<std::size_t>(h[i])];
    return gh;
}

std::size_t place_of(const std::vector<Permutation>& sorted, const Permutation& p) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), p) - sorted.begin());
}

/// Matrices of all permutations from those of adjacent transpositions, as products of ever more of these.
std::vector<MatrixXd> representation(const std::vector<Tableau>& tableaux,
                                     const std::vector<Permutation>& group) {
    const auto n = group.front().size();
    std::vector<MatrixXd> generators;
    std::vector<Permutation> swaps;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        generators.push_back(adjacent_transposition(tableaux, static_cast<int>(i)));
        swaps.push_back(group.front());
        std::swap(swaps.back()[i], swaps.back()[i + 1]);
    }
    const auto d = static_cast<Eigen::Index>(tableaux.size());
    std::vector<MatrixXd> matrices(group.size());
    matrices[0] = MatrixXd::Identity(d, d);
    std::vector<std::size_t> reached{0};
    for (std::size_t k = 0; k < reached.size(); ++k)
        for (std::size_t i = 0; i + 1 < n; ++i) {
            const auto next = place_of(group, composed(group[reached[k]], swaps[i]));
            if (matrices[next].size() > 0) continue;
            matrices[next] = matrices[reached[k]] * generators[i];
            reached.push_back(next);
        }
    return matrices;
}

double spectral_radius(const MatrixXd& m) {
    if (m.rows() == 1) return std::abs(m(0, 0));
    return Eigen::EigenSolver<MatrixXd>(m, false).eigenvalues().cwiseAbs().maxCoeff();
}

/// Lengths of the cycles, longest first.
std::vector<int> cycle_type(const Permutation& p) {
    std::vector<int> lengths;
    std::vector<bool> seen(p.size(), false);
    for (std::size_t i = 0; i < p.size(); ++i) {
        int length = 0;
        for (auto k = i; !seen[k]; k = static_cast<std::size_t>(p[k])) {
            seen[k] = true;
            ++length;
        }
        if (length > 0) lengths.push_back(length);
    }
    std::sort(lengths.rbegin(), lengths.rend());
    return lengths;
}

double subsets(double of, int count) {
    double product = 1;
    for (int k = 0; k < count; ++k) product *= (of - k) / (k + 1);
    return std::round(product);
}

/// The group with its elements in an order in which conjugacy classes are contiguous, and conjugation as a table.
struct Conjugation {
    std::vector<int> element;             ///< place in the lexicographic order, by the order of classes
    std::vector<int> first;               ///< of each element's class: the smallest number in it
    std::vector<std::vector<int>> image;  ///< image[g][x]: number of g x g⁻¹
    /// carriers[x]: those g whose conjugation takes x to the first of its class
    std::vector<std::vector<int>> carriers;

    explicit Conjugation(const std::vector<Permutation>& group) : element(group.size()), first(group.size()) {
        std::map<std::vector<int>, std::vector<int>> classes;
        for (std::size_t k = 0; k < group.size(); ++k)
            classes[cycle_type(group[k])].push_back(static_cast<int>(k));
        std::vector<int> number(group.size());
        int next = 0;
        for (const auto& [type, members] : classes) {
            const int start = next;
            for (const int member : members) {
                element[static_cast<std::size_t>(next)] = member;
                first[static_cast<std::size_t>(next)] = start;
                number[static_cast<std::size_t>(member)] = next++;
            }
        }
        carriers.resize(group.size());
        for (const auto& g : group) {
            Permutation inverse(g.size());
            for (std::size_t i = 0; i < g.size(); ++i)
                inverse[static_cast<std::size_t>(g[i])] = static_cast<int>(i);
            auto& row = image.emplace_back(group.size());
            for (std::size_t x = 0; x < group.size(); ++x) {
                const auto& p = group[static_cast<std::size_t>(element[x])];
                row[x] = number[place_of(group, composed(composed(g, p), inverse))];
                if (row[x] == first[x]) carriers[x].push_back(static_cast<int>(image.size()) - 1);
            }
        }
    }

    /// Is the ascending set the smallest of its images? Its first element must be the first of its class. Only images
    /// that take an element of that class to its first can be smaller.
    bool is_smallest(const std::vector<int>& set, std::vector<int>& work) const {
        work.resize(set.size());
        const auto lowest = first[static_cast<std::size_t>(set.front())];
        for (const int x : set) {
            if (first[static_cast<std::size_t>(x)] != lowest) break;  // classes are contiguous
            for (const int g : carriers[static_cast<std::size_t>(x)]) {
                const auto& row = image[static_cast<std::size_t>(g)];
                for (std::size_t k = 0; k < set.size(); ++k) work[k] = row[static_cast<std::size_t>(set[k])];
                std::sort(work.begin(), work.end());
                if (work < set) return false;
            }
        }
        return true;
    }
};

/// Calls visit with every ascending set of `count` numbers below `size` that begins with the first of a class.
template <class Visit>
void each_candidate(const Conjugation& conjugation, int size, int count, const Visit& visit) {
    std::vector<int> set(static_cast<std::size_t>(count));
    for (int start = 0; start + count <= size; ++start) {
        if (conjugation.first[static_cast<std::size_t>(start)] != start) continue;
        std::iota(set.begin(), set.end(), start);
        while (true) {
            visit(set);
            int k = count - 1;
            while (k > 0 && set[static_cast<std::size_t>(k)] == size - count + k) --k;
            if (k == 0) break;
            std::iota(set.begin() + k, set.end(), set[static_cast<std::size_t>(k)] + 1);
        }
    }
}

double candidates(const Conjugation& conjugation, int size, int count) {
    double sum = 0;
    for (int start = 0; start < size; ++start)
        if (conjugation.first[static_cast<std::size_t>(start)] == start)
            sum += subsets(size - 1 - start, count - 1);
    return sum;
}

}  // namespace

Irreducibles::Irreducibles(int n) : permutations_(all_permutations(n)) {
    std::vector<std::vector<int>> shapes;
    std::vector<int> parts;
    add_partitions(n, n, parts, shapes);
    shapes.erase(shapes.begin());  // the trivial representation
    std::vector<std::vector<Tableau>> bases;
    for (const auto& shape : shapes) {
        std::vector<int> filled(shape.size(), 0);
        Tableau rows;
        add_tableaux(shape, n, filled, rows, bases.emplace_back());
    }
    std::stable_sort(bases.begin(), bases.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const auto& basis : bases) matrices_.push_back(representation(basis, permutations_));
}

double Irreducibles::gap(const std::vector<int>& set, double least) const {
    double smallest = 1;
    for (const auto& matrices : matrices_) {
        MatrixXd sum = matrices[static_cast<std::size_t>(set.front())];
        for (std::size_t k = 1; k < set.size(); ++k) sum += matrices[static_cast<std::size_t>(set[k])];
        smallest = std::min(smallest, 1 - spectral_radius(sum / static_cast<double>(set.size())));
        if (smallest <= least) break;
    }
    return std::max(0.0, smallest);
}

namespace {

LargestGap searched(int n, int count) {
    const auto refuse = [](const std::string& field, int value, const std::string& accepted) {
        throw std::invalid_argument("`" + field + "` " + std::to_string(value) + ": must be " + accepted);
    };
    if (n < 2 || n > most_streams)
        refuse("streams", n,
               "2 to " + std::to_string(most_streams) + " for sets of permutations of largest gap");
    const auto start = std::chrono::steady_clock::now();
    const auto group = all_permutations(n);
    const auto size = static_cast<int>(group.size());
    if (count < 1 || count > size) refuse("permutations", count, "1 to " + std::to_string(size));
    // Before the tables, which grow with (n!)²: sets that contain the identity alone may be too many.
    const auto too_many = [&] {
        refuse("permutations", count,
               "less for " + std::to_string(n) + " streams: more than 2e7 sets would have to be tried");
    };
    if (subsets(size - 1, count - 1) > most_sets) too_many();
    const Conjugation conjugation(group);
    if (candidates(conjugation, size, count) > most_sets) too_many();

    const Irreducibles irreducibles(n);
    LargestGap found;
    found.sets = subsets(size, count);
    std::vector<int> work, elements(static_cast<std::size_t>(count)), best;
    each_candidate(conjugation, size, count, [&](const std::vector<int>& set) {
        if (!conjugation.is_smallest(set, work)) return;
        ++found.classes;
        for (std::size_t k = 0; k < set.size(); ++k)
            elements[k] = conjugation.element[static_cast<std::size_t>(set[k])];
        const double gap = irreducibles.gap(elements, best.empty() ? -1 : found.gap - tie);
        if (best.empty() || gap > found.gap + tie) {
            found.best_classes = 0;
            best = elements;
            found.gap = gap;
        }
        if (gap >= found.gap - tie) ++found.best_classes;
    });
    std::sort(best.begin(), best.end());  // the identity is the first in lexicographic order
    for (const int element : best) found.permutations.push_back(group[static_cast<std::size_t>(element)]);
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return found;
}

}  // namespace

LargestGap largest_gap(int n, int count) {
    static std::mutex mutex;
    static std::map<std::pair<int, int>, LargestGap> known;
    const std::lock_guard lock(mutex);
    const auto found = known.find({n, count});
    return found != known.end() ? found->second
                                : known.emplace(std::pair{n, count}, searched(n, count)).first->second;
}

}  // namespace spectra::mixers
