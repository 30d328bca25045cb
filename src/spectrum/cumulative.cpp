#include "spectrum/cumulative.hpp"

#include <algorithm>
#include <cmath>

namespace spectra {
namespace {

struct Node {
    double x, f, slope;
};

Cumulative::Piece monotone_piece(const Node& a, const Node& b) {
    Cumulative::Piece piece{a.x, b.x, a.f, b.f, 0, 0};
    const double rise = b.f - a.f;
    if (!(rise > 0)) {
        piece.to = a.f;
        return piece;
    }
    const double width = b.x - a.x;
    const double alpha = std::max(a.slope, 0.0) * width / rise;
    const double beta = std::max(b.slope, 0.0) * width / rise;
    const double limit = std::min(1.0, 3.0 / std::hypot(alpha, beta));  // 3/0 = ∞ keeps 1
    piece.rise_lower = limit * alpha * rise;
    piece.rise_upper = limit * beta * rise;
    return piece;
}

/// Mass between a node and a square-root edge at a distance.
double edge_mass(const Node& node, double distance) {
    return 2.0 / 3.0 * std::max(node.slope, 0.0) * std::max(distance, 0.0);
}

}  // namespace

double Cumulative::Piece::value(double x) const {
    if (x <= lower) return from;
    if (x >= upper) return to;
    const double t = (x - lower) / (upper - lower);
    const double rise = to - from;
    // from + t·(rise_lower + t·(…)): the Hermite cubic by powers of t.
    const double second = 3 * rise - 2 * rise_lower - rise_upper;
    const double third = rise_lower + rise_upper - 2 * rise;
    return std::clamp(from + t * (rise_lower + t * (second + t * third)), from, to);
}

double Cumulative::Piece::slope(double x) const {
    const double width = upper - lower;
    const double t = std::clamp((x - lower) / width, 0.0, 1.0);
    const double rise = to - from;
    const double second = 3 * rise - 2 * rise_lower - rise_upper;
    const double third = rise_lower + rise_upper - 2 * rise;
    return std::max(0.0, (rise_lower + t * (2 * second + t * 3 * third)) / width);
}

double Cumulative::tail_value(double x) const {
    return has_tail() ? tail_mass * std::exp(tail_exponent * (x - lowest())) : 0.0;
}

double Cumulative::value(double x) const {
    if (pieces.empty()) return 0;
    if (x < lowest()) return tail_value(x);
    const auto after = std::upper_bound(pieces.begin(), pieces.end(), x,
                                        [](double at, const Piece& piece) { return at < piece.lower; });
    return std::prev(after)->value(x);
}

Cumulative continuous_part(const Density& density) {
    Cumulative out;
    const std::size_t count = density.log_s.size();
    if (count == 0) return out;

    std::vector<Node> nodes(count);
    double running = 0;
    double quadrature = density.mass_below;
    for (std::size_t k = 0; k < count; ++k) {
        double f = density.cumulative[k];
        for (const auto& atom : density.atoms) {
            if (atom.log_place <= density.log_s[k]) f -= atom.mass;
        }
        running = std::max(running, f);
        nodes[k] = {density.log_s[k], running, density.density_log[k]};
        quadrature += density.weight[k] * density.density_log[k];
    }
    const double total = std::max(running, quadrature);

    auto bands = density.support;
    std::sort(bands.begin(), bands.end(),
              [](const auto& a, const auto& b) { return a.log_lower < b.log_lower; });

    std::vector<Node> knots;
    knots.reserve(count + 2 * bands.size() + 1);

    // Below the first node: the tail, a lower edge, or mass at an unknown position (a step).
    if (density.tail_exponent > 0 && density.mass_below > 0) {
        out.tail_exponent = density.tail_exponent;
        out.tail_mass = nodes.front().f;
    } else if (!bands.empty() && std::isfinite(bands.front().log_lower) &&
               bands.front().log_lower < nodes.front().x) {
        knots.push_back({bands.front().log_lower, 0, 0});
    }
    for (std::size_t k = 0; k < count; ++k) {
        knots.push_back(nodes[k]);
        if (k + 1 == count) break;
        // The gap between this node and the next, if there is one (several narrow ones count as one).
        double gap_lower = nodes[k + 1].x;
        double gap_upper = nodes[k].x;
        for (std::size_t b = 0; b + 1 < bands.size(); ++b) {
            const double lower = std::max(bands[b].log_upper, nodes[k].x);
            const double upper = std::min(bands[b + 1].log_lower, nodes[k + 1].x);
            if (lower < upper) {
                gap_lower = std::min(gap_lower, lower);
                gap_upper = std::max(gap_upper, upper);
            }
        }
        if (!(gap_lower < gap_upper)) continue;
        const double between = nodes[k + 1].f - nodes[k].f;
        const double below = edge_mass(nodes[k], gap_lower - nodes[k].x);
        const double above = edge_mass(nodes[k + 1], nodes[k + 1].x - gap_upper);
        double share = 0.5;
        if (gap_lower <= nodes[k].x) {
            share = 0;
        } else if (gap_upper >= nodes[k + 1].x) {
            share = 1;
        } else if (below + above > 0) {
            share = below / (below + above);
        }
        const double level = nodes[k].f + share * between;
        if (gap_lower > nodes[k].x) knots.push_back({gap_lower, level, 0});
        if (gap_upper < nodes[k + 1].x) knots.push_back({gap_upper, level, 0});
    }
    if (!bands.empty()) {
        const double top = std::max_element(bands.begin(), bands.end(), [](const auto& a, const auto& b) {
                               return a.log_upper < b.log_upper;
                           })->log_upper;
        if (std::isfinite(top) && top > knots.back().x) knots.push_back({top, total, 0});
    }
    if (knots.size() == 1) {  // a single node: a step
        out.pieces.push_back({knots[0].x, knots[0].x, knots[0].f, knots[0].f, 0, 0});
        return out;
    }
    out.pieces.reserve(knots.size() - 1);
    for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
        out.pieces.push_back(monotone_piece(knots[k], knots[k + 1]));
    }
    return out;
}

Cumulative piecewise_linear(const std::vector<double>& edges, const std::vector<double>& counts,
                            double total) {
    Cumulative out;
    double seen = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double from = seen / total;
        seen += counts[i];
        const double to = seen / total;
        out.pieces.push_back({edges[i], edges[i + 1], from, to, to - from, to - from});
    }
    return out;
}

}  // namespace spectra
