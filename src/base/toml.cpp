#include "base/toml.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>

namespace spectra {
namespace {

bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string utf8(unsigned code) {
    std::string out;
    const auto more = [&](int shift) { out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0U | (code >> 6));
        more(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0U | (code >> 12));
        more(6), more(0);
    } else {
        out += static_cast<char>(0xF0U | (code >> 18));
        more(12), more(6), more(0);
    }
    return out;
}

class Parser {
public:
    Parser(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

    std::vector<TomlEntry> parse() {
        std::vector<TomlEntry> entries;
        std::set<std::string> tables;
        std::set<std::pair<std::string, std::string>> keys;
        std::string table;
        for (skip(true); !rest_.empty(); skip(true)) {
            if (take('[')) {
                if (rest_.starts_with('[')) refuse("arrays of tables are not supported");
                skip(false);
                table = key();
                expect(']');
                if (!tables.insert(table).second) refuse("duplicate table " + in_quotes(table));
            } else {
                TomlEntry entry;
                entry.table = table;
                entry.line = line_;
                entry.key = key();
                expect('=');
                read_value(entry);
                if (!keys.emplace(table, entry.key).second) refuse("duplicate key " + in_quotes(entry.key));
                entries.push_back(std::move(entry));
            }
            skip(false);
            if (!rest_.empty() && !at_line_end())
                refuse(fmt::format("unexpected {} after a value; expected the end of the line", word()));
        }
        return entries;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw std::invalid_argument(fmt::format("{}: line {}: {}", where_, line_, what));
    }
    bool at_line_end() const { return rest_.starts_with('\n') || rest_.starts_with("\r\n"); }
    std::string word() const {
        return in_quotes(rest_.substr(0, std::min<std::size_t>(rest_.find_first_of(" \t\r\n"), 20)));
    }
    /// Blanks and a comment; with `lines` also the ends of lines.
    void skip(bool lines) {
        while (!rest_.empty()) {
            const char c = rest_.front();
            if (c == '#') {
                rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
            } else if (c == ' ' || c == '\t' || (c == '\r' && rest_.starts_with("\r\n"))) {
                rest_.remove_prefix(1);
            } else if (c == '\n' && lines) {
                rest_.remove_prefix(1);
                ++line_;
            } else {
                return;
            }
        }
    }
    bool take(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        skip(false);
        if (!take(c)) refuse(fmt::format("expected '{}' at {}", c, word()));
        skip(false);
    }
    std::string key() {
        if (rest_.starts_with('"') || rest_.starts_with('\'')) return quoted();
        const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), is_bare);
        std::string name(rest_.begin(), end);
        if (name.empty()) refuse(fmt::format("expected a key or [table] at {}", word()));
        rest_.remove_prefix(name.size());
        skip(false);
        if (rest_.starts_with('.')) refuse("dotted keys are not supported; write the key below its [table]");
        return name;
    }
    std::string quoted() {
        const char quote = rest_.front();
        if (rest_.starts_with(std::string(3, quote))) refuse("texts of several lines are not supported");
        rest_.remove_prefix(1);
        std::string out;
        while (!take(quote)) {
            if (rest_.empty() || rest_.front() == '\n') refuse("a text has no closing quote");
            const char c = rest_.front();
            rest_.remove_prefix(1);
            out += c == '\\' && quote == '"' ? escape() : std::string(1, c);
        }
        return out;
    }
    std::string escape() {
        constexpr std::string_view names = "btnfr\"\\", meanings = "\b\t\n\f\r\"\\";
        const char c = rest_.empty() ? '\0' : rest_.front();
        if (const auto k = names.find(c); c != '\0' && k != names.npos) {
            rest_.remove_prefix(1);
            return std::string(1, meanings[k]);
        }
        const std::size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
        unsigned code = 0;
        if (digits == 0 || rest_.size() <= digits) refuse("unknown escape in a text");
        const char* const begin = rest_.data() + 1;
        const auto [end, error] = std::from_chars(begin, begin + digits, code, 16);
        if (error != std::errc{} || end != begin + digits || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
            refuse("unknown escape in a text");
        rest_.remove_prefix(digits + 1);
        return utf8(code);
    }
    /// A text or a bare word.
    std::string scalar(TomlEntry::Kind& kind) {
        if (rest_.starts_with('"') || rest_.starts_with('\'')) {
            kind = TomlEntry::Kind::text;
            return quoted();
        }
        std::string bare(rest_.substr(0, std::min(rest_.find_first_of(" \t\r\n,]#"), rest_.size())));
        rest_.remove_prefix(bare.size());
        if (bare == "true" || bare == "false") {
            kind = TomlEntry::Kind::truth;
            return bare;
        }
        kind = TomlEntry::Kind::number;
        std::erase(bare, '_');
        if (!parse_number(bare))
            refuse(fmt::format("{} is not a value; texts need quotes", in_quotes(bare)));
        return bare;
    }
    void read_value(TomlEntry& entry) {
        if (!take('[')) {
            entry.values.push_back(scalar(entry.kind));
            return;
        }
        entry.kind = TomlEntry::Kind::list;
        for (skip(true); !take(']'); skip(true)) {
            TomlEntry::Kind kind{};
            entry.values.push_back(scalar(kind));
            if (kind == TomlEntry::Kind::truth) refuse("a list holds texts or numbers, not true or false");
            skip(true);
            if (take(',')) continue;
            if (!take(']')) refuse(fmt::format("expected ',' or ']' at {}", word()));
            return;
        }
    }

    std::string_view rest_;
    const std::string& where_;
    std::size_t line_ = 1;
};

}  // namespace

std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& where) {
    return Parser(text, where).parse();
}

std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
            out += c;
        }
    }
    return out + "\"";
}

}  // namespace spectra
