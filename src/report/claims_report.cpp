#include "report/claims_report.hpp"

#include "report/json_number.hpp"
#include "report/page.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace spectra::report {
namespace {

using claims::Claim;
using claims::Number;
using claims::Verdict;
using nlohmann::ordered_json;

constexpr std::array<Verdict, 5> verdicts{Verdict::holds, Verdict::holds_in_part, Verdict::refuted,
                                          Verdict::not_testable, Verdict::open};

/// The number that a table shows: the first that has a published one beside it, else the first.
const Number* shown_number(const std::vector<Number>& numbers) {
    const auto with_published = std::find_if(
        numbers.begin(), numbers.end(), [](const Number& number) { return number.published.has_value(); });
    if (with_published != numbers.end()) return &*with_published;
    return numbers.empty() ? nullptr : &numbers.front();
}

std::string digits(double value) {
    return fmt::format("{:.4g}", value);
}

std::string number_words(const Number& number) {
    std::string words = digits(number.value);
    if (number.spread) words += " ± " + digits(*number.spread);
    if (number.published) words += " (paper " + digits(*number.published) + ")";
    return words;
}

/// The first words of a text, at most `width` characters.
std::string shortened(const std::string& text, std::size_t width) {
    if (width_of(text) <= width) return text;
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find(' ', begin + 1), text.size());
        if (width_of(out) + width_of(text.substr(begin, end - begin)) + 2 > width) break;
        out += text.substr(begin, end - begin);
        begin = end;
    }
    return out + " …";
}

std::string state_of(const ClaimRow& row) {
    if (!row.agrees()) return "DIFFERS";
    if (row.outcome) return "computed";
    return row.claim.verdict == Verdict::open || row.claim.verdict == Verdict::not_testable ? "not run"
                                                                                            : "stored";
}

std::size_t count(const std::vector<Claim>& ledger, Verdict verdict, const std::string& paper = "") {
    return static_cast<std::size_t>(std::count_if(ledger.begin(), ledger.end(), [&](const Claim& claim) {
        return claim.verdict == verdict && (paper.empty() || claim.source.paper == paper);
    }));
}

std::vector<Claim> claims_of(const ClaimsReport& report) {
    std::vector<Claim> out;
    for (const auto& row : report.rows) out.push_back(row.claim);
    return out;
}

/// "1 holds", "63 hold in part", "2 are refuted".
std::string verdict_words(std::size_t found, Verdict verdict) {
    const bool one = found == 1;
    switch (verdict) {
        case Verdict::holds:
            return fmt::format("{} {}", found, one ? "holds" : "hold");
        case Verdict::holds_in_part:
            return fmt::format("{} {} in part", found, one ? "holds" : "hold");
        default:
            return fmt::format("{} {} {}", found, one ? "is" : "are", claims::name(verdict));
    }
}

std::string counts_words(const std::vector<Claim>& ledger) {
    std::vector<std::string> parts;
    for (const auto verdict : verdicts)
        if (const auto found = count(ledger, verdict); found > 0)
            parts.push_back(verdict_words(found, verdict));
    return fmt::format("{}", fmt::join(parts, ", "));
}

ordered_json numbers_json(const std::vector<Number>& numbers) {
    ordered_json out = ordered_json::array();
    for (const auto& found : numbers) {
        ordered_json entry{{"name", found.name}, {"value", number(found.value)}};
        if (found.published) entry["published"] = *found.published;
        if (found.spread) entry["spread"] = *found.spread;
        out.push_back(entry);
    }
    return out;
}

/// Text of a Markdown cell: a bar would end it.
std::string cell_text(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return text;
}

std::string summary_table(const std::vector<Claim>& ledger) {
    std::string out = "| paper |";
    for (const auto verdict : verdicts) out += fmt::format(" {} |", claims::name(verdict));
    out += " all |\n|---|---|---|---|---|---|---|\n";
    const auto row = [&](const std::string& name, const std::string& paper) {
        out += fmt::format("| {} |", name);
        std::size_t all = 0;
        for (const auto verdict : verdicts) {
            all += count(ledger, verdict, paper);
            out += fmt::format(" {} |", count(ledger, verdict, paper));
        }
        out += fmt::format(" {} |\n", all);
    };
    for (const auto& paper : claims::papers())
        row(fmt::format("[{}](#{})", paper.name, paper.name), paper.name);
    row("all", "");
    return out;
}

std::string numbers_table(const Claim& claim) {
    const bool published = std::any_of(claim.numbers.begin(), claim.numbers.end(),
                                       [](const auto& n) { return n.published.has_value(); });
    std::string out = published ? "| number | measured | published |\n|---|---|---|\n"
                                : "| number | measured |\n|---|---|\n";
    for (const auto& found : claim.numbers) {
        out += fmt::format("| {} | {}{} |", cell_text(found.name), digits(found.value),
                           found.spread ? " ± " + digits(*found.spread) : "");
        if (published) out += fmt::format(" {} |", found.published ? digits(*found.published) : "");
        out += '\n';
    }
    return out + '\n';
}

std::string provenance(const Claim& claim) {
    std::vector<std::string> parts;
    const auto add = [&](const char* what, const std::string& text) {
        if (!text.empty()) parts.push_back(std::string(what) + text);
    };
    add("", claim.sizes);
    add("samples: ", claim.samples);
    if (!claim.seeds.empty())
        parts.push_back(
            fmt::format("seed{} {}", claim.seeds.size() == 1 ? "" : "s", fmt::join(claim.seeds, ", ")));
    add("", claim.machine);
    add("version ", claim.version);
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string markdown_of(const Claim& claim) {
    std::string out = fmt::format("#### {}: {}\n\n*{}.* {}\n\n", claim.id, claims::name(claim.verdict),
                                  claim.source.place, claim.statement);
    out += fmt::format("*Test.* {}", claim.test);
    if (!claim.criterion.empty()) out += fmt::format(" *Decides:* {}", claim.criterion);
    out += "\n\n";
    if (!claim.numbers.empty()) out += numbers_table(claim);
    if (!claim.remark.empty()) out += claim.remark + "\n\n";
    if (claim.correction)
        out += fmt::format("*Correct:* {} *Evidence:* {}\n\n", claim.correction->statement,
                           claim.correction->evidence);
    out += fmt::format("`{}`", claim.command);
    if (const auto made = provenance(claim); !made.empty()) out += fmt::format(" · {}", made);
    return out + "\n\n";
}

}  // namespace

bool ClaimsReport::agrees() const {
    return std::all_of(rows.begin(), rows.end(), [](const ClaimRow& row) { return row.agrees(); });
}

std::string terminal_page(const ClaimsReport& report, int columns, bool colour) {
    std::vector<std::string> ids, statements, states, found, numbers, published;
    for (const auto& row : report.rows) {
        const auto* const number = shown_number(row.outcome ? row.outcome->numbers : row.claim.numbers);
        ids.push_back(row.claim.id);
        statements.push_back(shortened(row.claim.statement, 34));
        states.push_back(state_of(row));
        found.emplace_back(claims::name(row.outcome ? row.outcome->verdict : row.claim.verdict));
        numbers.push_back(number == nullptr ? ""
                          : number->spread  ? fmt::format("{} ± {:.1g}", digits(number->value), *number->spread)
                                            : digits(number->value));
        published.push_back(number != nullptr && number->published ? digits(*number->published) : "");
    }
    const Table table{{{"claim", "", ids},
                       {"statement", "claim", statements},
                       {"state", "result", states},
                       {"verdict", "verdict", found},
                       {"number", "number", numbers},
                       {"published", "paper", published}},
                      {}};
    Page page(columns, colour, true);
    std::string out = to_page(table, columns, colour, true);
    page.blank();
    page.entry("", fmt::format("{} claim{}: {}. {} s.", report.rows.size(), report.rows.size() == 1 ? "" : "s",
                               counts_words(claims_of(report)), digits(report.seconds)));
    page.entry(
        "",
        "To repeat one of them, run spectra reproduce with its number (spectra reproduce C9). docs/claims.md has all numbers.");
    for (const auto& row : report.rows)
        for (const auto& line : row.disagreements) page.entry(row.claim.id, line, "31");
    page.entry("",
               report.agrees() ? "Every result agrees with the ledger." : "Results differ from the ledger.");
    return out + page.take();
}

std::string to_json(const ClaimsReport& report) {
    ordered_json out{{"agrees", report.agrees()}, {"seconds", report.seconds}, {"version", report.version}};
    const auto ledger = claims_of(report);
    for (const auto verdict : verdicts)
        out["verdicts"][std::string(claims::name(verdict))] = count(ledger, verdict);
    out["claims"] = ordered_json::array();
    for (const auto& row : report.rows) {
        ordered_json entry = claims::to_json(row.claim);
        entry["computed"] = nullptr;
        if (row.outcome)
            entry["computed"] = {{"verdict", claims::name(row.outcome->verdict)},
                                 {"numbers", numbers_json(row.outcome->numbers)},
                                 {"seconds", row.seconds}};
        entry["agrees"] = row.agrees();
        entry["disagreements"] = row.disagreements;
        out["claims"].push_back(entry);
    }
    return out.dump(2);
}

std::string claims_markdown(const std::vector<Claim>& ledger) {
    std::string out =
        "# Published claims, computed again\n\n"
        "This page is written from `data/claims/` by `spectra reproduce`; edit the files there.\n\n"
        "Each claim is a statement of a paper in our words. *Holds*: as stated. *Holds in part*: under conditions that the\n"
        "statement does not name, or for some of what it names. *Refuted*: not as stated; the corrected statement follows.\n"
        "*Not testable here*: the data or machines are not at hand. *Open*: no result yet. `spectra reproduce` computes those\n"
        "that take seconds again, checks the stored results of the others, and exits with 1 where a result no longer agrees\n"
        "with its verdict ([reproduce.md](reproduce.md)). [errata.md](errata.md) collects the corrections.\n\n"
        "## Summary\n\n" +
        summary_table(ledger) + "\n";
    for (const auto& paper : claims::papers()) {
        out +=
            fmt::format("## {}\n\n{} ({}).\n\n| claim | statement | verdict | number |\n|---|---|---|---|\n",
                        paper.name, paper.title, paper.address);
        for (const auto& claim : ledger)
            if (claim.source.paper == paper.name) {
                const auto* const number = shown_number(claim.numbers);
                out +=
                    fmt::format("| {} | {} | {} | {} |\n", claim.id, cell_text(claim.statement),
                                claims::name(claim.verdict), number == nullptr ? "" : number_words(*number));
            }
        out += '\n';
        for (const auto& claim : ledger)
            if (claim.source.paper == paper.name) out += markdown_of(claim);
    }
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
}

}  // namespace spectra::report
