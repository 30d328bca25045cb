#include "dyson/ask/depth_limit.hpp"

#include "dyson/law/potential.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::dyson {
namespace {

constexpr int one_by_one = 64;

class Search {
public:
    Search(const std::function<Network(int)>& network_of, const DepthLimitOptions& options)
        : network_of_(network_of), options_(options) {}

    DepthLimit run() {
        const int first = first_failure();
        limit_.failed = first > 0 && !limit_.stopped;
        limit_.depth = first > 0 ? first - 1 : deepest();
        if (limit_.failed && options_.look_behind) look_behind(first);
        auto& points = limit_.points;
        std::sort(points.begin(), points.end(),
                  [](const auto& a, const auto& b) { return a.depth < b.depth; });
        limit_.certified = !limit_.stopped;
        for (const DepthPoint& p : points) {
            if (!limit_.failed || p.depth <= first)
                limit_.certified = limit_.certified && p.certified;
            else if (keeps(p))
                limit_.again.push_back(p.depth);
        }
        return std::move(limit_);
    }

private:
    bool keeps(const DepthPoint& p) const { return p.share >= options_.keep; }

    /// A depth that could not be solved fails.
    bool keeps(int depth) {
        if (options_.proceed && !options_.proceed(depth)) {
            limit_.stopped = true;
            return false;
        }
        const MassBelow mass = mass_below(network_of_(depth), {std::log(options_.above)}).front();
        limit_.points.push_back({depth, 1 - mass.mass, mass.certified});
        return keeps(limit_.points.back());
    }

    int deepest() const {
        int depth = 0;
        for (const DepthPoint& p : limit_.points) depth = std::max(depth, p.depth);
        return depth;
    }

    /// 0 if none fails.
    int first_failure() {
        const int end = std::min(one_by_one, options_.max_depth);
        for (int depth = 1; depth <= end; ++depth)
            if (!keeps(depth)) return depth;
        int kept = end;
        while (kept < options_.max_depth) {
            const int next = kept > options_.max_depth / 2 ? options_.max_depth : 2 * kept;
            if (!keeps(next)) return limit_.stopped ? kept + 1 : bisect(kept, next);
            kept = next;
        }
        return 0;
    }

    int bisect(int kept, int lost) {
        while (lost - kept > 1) {
            const int middle = kept + (lost - kept) / 2;
            const bool keeps_it = keeps(middle);
            if (limit_.stopped) return kept + 1;
            (keeps_it ? kept : lost) = middle;
        }
        return lost;
    }

    void look_behind(int first) {
        for (const long depth : {first + 1L, 2L * first, 4L * first}) {
            const bool known = std::any_of(limit_.points.begin(), limit_.points.end(),
                                           [&](const DepthPoint& p) { return p.depth == depth; });
            if (!known && depth <= options_.max_depth && !limit_.stopped) keeps(static_cast<int>(depth));
        }
    }

    const std::function<Network(int)>& network_of_;
    const DepthLimitOptions& options_;
    DepthLimit limit_;
};

}  // namespace

DepthLimit depth_limit(const std::function<Network(int)>& network_of, const DepthLimitOptions& options) {
    return Search(network_of, options).run();
}

}  // namespace spectra::dyson
