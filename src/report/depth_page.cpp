#include "report/page.hpp"
#include "report/terminal.hpp"
#include "report/wording.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spectra::report {
namespace {

std::string layers(int depth) {
    return depth == 1 ? "1 layer" : fmt::format("{} layers", depth);
}

/// With as many digits as distinguish it from the share to be kept.
std::string share_left(double left, double keep) {
    if (percent(left) != percent(keep)) return percent(left);
    for (int digits = 2; digits < 8; ++digits)
        if (std::string text = fmt::format("{:.{}f} %", 100 * left, digits);
            text != fmt::format("{:.{}f} %", 100 * keep, digits))
            return text;
    return percent(left);
}

/// With four digits, or as many as show that a share is below what must be kept.
std::string share_text(double share, double keep) {
    int digits = 4;
    while (digits < 9 && share < keep && fmt::format("{:.{}f}", share, digits) == fmt::format("{:.{}f}", keep, digits))
        ++digits;
    return fmt::format("{:.{}f}", share, digits);
}

std::string depth_sentence(const DepthReport& report) {
    const auto& limit = report.limit;
    const std::string kept = fmt::format("at least {} of the singular values at or above {:.6g}",
                                         percent(report.keep), report.above);
    if (limit.stopped) return fmt::format("Stopped. Depths up to {} keep {}.", limit.depth, kept);
    if (!limit.failed)
        return fmt::format("Every depth evaluated, up to {}, keeps {}.", layers(limit.depth), kept);
    double left = std::nan("");
    for (const auto& p : limit.points)
        if (p.depth == limit.depth + 1) left = p.share;
    const std::string next = std::isnan(left) ? fmt::format("{} could not be solved", layers(limit.depth + 1))
                                              : fmt::format("with {} {} are left", layers(limit.depth + 1),
                                                            share_left(left, report.keep));
    if (limit.depth == 0) return fmt::format("No depth keeps {}: {}.", kept, next);
    return fmt::format("{} {}; {}.",
                       limit.depth == 1 ? "1 layer keeps" : fmt::format("Up to {} layers keep", limit.depth),
                       kept, next);
}

std::string draws_sentence(const DepthReport& report) {
    int open = 0;
    for (const auto& draw : report.draws) open += draw.failed ? 0 : 1;
    std::string words = fmt::format(
        "Over {} draws of the mixers the limit has the median {:.3g}; half lie in {:.3g}–{:.3g}, all in "
        "{:.0f}–{:.0f}.",
        report.draws.size(), limit_quantile(report, 0.5), limit_quantile(report, 0.25),
        limit_quantile(report, 0.75), limit_quantile(report, 0), limit_quantile(report, 1));
    if (open > 0)
        words +=
            fmt::format(" {} of them did not fail up to {}, where the search ended.", open, report.max_depth);
    return words;
}

}  // namespace

std::string terminal_page(const DepthReport& report, int columns, bool colour, bool unicode) {
    Page page(columns, colour, unicode);
    page.entry("", report.title, "1");
    page.blank();
    page.verbatim(page.paint(
        page.text(fmt::format("{:>8}{:>16}", "layers", fmt::format("share ≥ {:.4g}", report.above))), "1"));
    // Finely around the answer, coarsely elsewhere.
    const auto& limit = report.limit;
    int shown = 0;
    for (const auto& p : limit.points) {
        const bool near = std::abs(p.depth - limit.depth) <= 2;
        if (!near && p.depth < shown + shown / 2 && p.depth != limit.points.back().depth) continue;
        if (!near) shown = p.depth;
        const std::string line = fmt::format("{:>8}{:>14}{}", p.depth, share_text(p.share, report.keep),
                                             p.certified ? "" : "  not certified");
        page.verbatim(p.certified ? line : page.paint(line, "31"));
    }
    page.blank();
    page.entry("", depth_sentence(report), limit.certified ? "1" : "31");
    if (!limit.again.empty()) {
        std::string list;
        for (const int depth : limit.again) list += (list.empty() ? "" : ", ") + std::to_string(depth);
        page.entry("",
                   fmt::format("Deeper networks keep it again: L = {}. The share does not only fall.", list),
                   "33");
    }
    if (!report.draws.empty()) page.entry("", draws_sentence(report));
    if (!report.files.empty()) {
        page.blank();
        for (const auto& file : report.files) page.verbatim(page.text("wrote " + file));
    }
    return page.take();
}

}  // namespace spectra::report
