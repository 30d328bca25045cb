#include "weightfile/script_scan.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

namespace spectra::weightfile {
namespace {

using namespace std::string_view_literals;

constexpr std::array unsafe_names{"save"sv, "from_file"sv, "rpc_sync"sv, "rpc_async"sv, "rpc_remote"sv};
constexpr std::array namespaces{"aten"sv,      "prim"sv,         "prims"sv,     "quantized"sv,        "_quantized"sv,
                                "sparse"sv,    "quantization"sv, "prepacked"sv, "mkldnn_prepacked"sv, "torchvision"sv};
constexpr std::size_t largest_source = std::size_t{64} << 20;

struct Token {
    enum class Kind { name, text, other } kind;
    std::string_view text;  ///< of a string: between its quotes
};

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The names, strings and signs of a TorchScript source, which has Python's lexical rules. Blanks, line ends
/// and comments are skipped, so that expressions split by them are recognised.
class Lexer {
public:
    Lexer(std::string_view source, const std::string& where) : rest_(source), where_(where) {}

    std::optional<Token> next() {
        skip();
        if (rest_.empty()) return std::nullopt;
        if (rest_[0] == '"' || rest_[0] == '\'') return Token{Token::Kind::text, quoted()};
        const auto length = static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_word) - rest_.begin());
        const auto kind = length > 0 ? Token::Kind::name : Token::Kind::other;
        return Token{kind, take(std::max<std::size_t>(length, 1))};
    }

private:
    std::string_view take(std::size_t length) {
        const auto out = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return out;
    }

    void skip() {
        while (!rest_.empty()) {
            if (rest_[0] == '#')
                take(std::min(rest_.find('\n'), rest_.size()));
            else if (" \t\r\n\f\v\\"sv.find(rest_[0]) != std::string_view::npos)  // a backslash joins lines
                take(1);
            else
                return;
        }
    }

    std::string_view quoted() {
        const char quote = rest_[0];
        const std::array triple{quote, quote, quote};
        const std::string_view three(triple.data(), 3);
        const std::size_t width = rest_.starts_with(three) ? 3 : 1;
        take(width);
        for (std::size_t k = 0; k < rest_.size(); ++k) {
            if (rest_[k] == '\\') {
                ++k;
            } else if (rest_.substr(k).starts_with(three.substr(0, width))) {
                const auto out = take(k);
                take(width);
                return out;
            }
        }
        refuse(where_, "has an unterminated string in its source");
    }

    std::string_view rest_;
    const std::string& where_;
};

bool is_unsafe(std::string_view name) {
    return std::find(unsafe_names.begin(), unsafe_names.end(), name) != unsafe_names.end();
}

std::string lower_case(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

[[noreturn]] void refuse_call(const std::string& where, std::string_view what) {
    refuse(where, fmt::format("calls {}, which reaches beyond the model's own numbers; a module must "
                              "compute on tensors only",
                              in_quotes(what)));
}

}  // namespace

void refuse_unsafe_source(std::string_view source, const std::string& where) {
    Lexer lexer(source, where);
    // The last tokens, latest last: a.b.c is five tokens.
    std::array<Token, 4> before{};
    std::string text;
    int depth = 0;
    std::vector<int> lookups;  // depths of the parentheses of open getattr(…)
    while (const auto token = lexer.next()) {
        const auto& [kind, word] = *token;
        const bool after_dot = before[3].text == ".";
        const auto follows = [&](std::string_view name) {
            return before[3].kind == Token::Kind::name && before[3].text == name && before[2].text != ".";
        };
        // These may only be used directly: under another name they would go unnoticed.
        if (follows("ops") && word != ".") refuse_call(where, "ops");
        if (follows("getattr") && word != "(") refuse_call(where, "getattr");
        if (word == "(" && ++depth > 0 && follows("getattr")) lookups.push_back(depth);
        if (word == ")" && !lookups.empty() && lookups.back() == depth) lookups.pop_back();
        if (word == ")") --depth;
        if (kind == Token::Kind::text) {
            // Adjacent strings are joined, and escapes could spell anything.
            text = before[3].kind == Token::Kind::text ? text + std::string(word) : std::string(word);
            if (!lookups.empty() && (is_unsafe(text) || text.find('\\') != std::string::npos))
                refuse_call(where, text);
        } else if (kind == Token::Kind::name && after_dot) {
            const bool is_namespace = before[2].text == "ops" && before[1].text != ".";
            if (is_unsafe(word)) refuse_call(where, word);
            if (is_namespace && std::find(namespaces.begin(), namespaces.end(), word) == namespaces.end())
                refuse_call(where, fmt::format("ops.{}", word));
            if (before[2].text == "classes" && before[1].text == "." && before[0].text == "torch" &&
                word != "quantized")
                refuse_call(where, fmt::format("torch.classes.{}", word));
        } else if (kind == Token::Kind::name && word.starts_with("rpc_") && is_unsafe(word)) {
            refuse_call(where, word);
        }
        std::rotate(before.begin(), before.begin() + 1, before.end());
        before[3] = *token;
    }
}

void refuse_unsafe_script(const ZipArchive& archive, const std::string& root, const std::string& where) {
    constexpr std::string_view custom = "torch.classes.", packed = "quantized.";
    std::set<std::string> names;
    for (const auto& entry : archive.entries()) {
        const std::string place = where + ": " + in_quotes(entry.name);
        // PyTorch finds entries regardless of case, in the folder of the first entry.
        const auto name = lower_case(entry.name);
        if (!entry.name.starts_with(root)) refuse(place, "is outside the folder of data.pkl");
        if (!names.insert(name).second)
            refuse(place, "has a name that differs from another entry's only in case");
        const auto inner = std::string_view(name).substr(root.size());
        if (inner == "model.json") refuse(place, "has a TorchScript format that is no longer supported");
        const bool is_code = inner.starts_with("code/") && !inner.ends_with(".debug_pkl");
        const bool is_pickle = inner.ends_with(".pkl");
        if (is_code) refuse_unsafe_source(archive.unpacked(entry, largest_source), place);
        if (!is_pickle) continue;
        // Pickles name a class by two lines: a module and a name.
        std::string text = archive.unpacked(entry, largest_source);
        std::replace(text.begin(), text.end(), '\n', '.');
        for (auto at = text.find(custom); at != text.npos; at = text.find(custom, at + 1))
            if (!std::string_view(text).substr(at + custom.size()).starts_with(packed))
                refuse_call(place, std::string_view(text).substr(at, custom.size() + 20));
    }
}

}  // namespace spectra::weightfile
