#include "base/shell.hpp"

namespace spectra {

std::string shell_line(const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) {
        const bool plain = !word.empty() && word.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789-_=.,:+/%@") == std::string::npos;
        if (!line.empty()) line += ' ';
        if (plain) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

std::vector<std::string> shell_words(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool inside = false, quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const char c = line[k];
        if (c == '\'') {
            quoted = !quoted;
            inside = true;
        } else if (!quoted && c == ' ') {
            if (inside) words.push_back(word);
            word.clear();
            inside = false;
        } else {
            if (!quoted && c == '\\' && k + 1 < line.size()) ++k;
            word += line[k];
            inside = true;
        }
    }
    if (inside) words.push_back(word);
    return words;
}

}  // namespace spectra
