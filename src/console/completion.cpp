#include "console/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace spectra::console {

namespace {

struct Completed {
    std::vector<std::string> choices;
    bool files = false;
};

/// "png,svg|none" has three choices, "auto|FILE" one and files.
Completed completed(const Option& option) {
    Completed result;
    std::string word;
    const auto finish = [&] {
        const auto is_choice = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        };
        if (word.starts_with("FILE") || word == "STEM") {
            result.files = true;
        } else if (word.size() > 1 && std::all_of(word.begin(), word.end(), is_choice)) {
            result.choices.push_back(word);
        }
        word.clear();
    };
    for (const char c : option.values) {
        if (c == '|' || c == ',') {
            finish();
        } else {
            word += c;
        }
    }
    finish();
    return result;
}

std::string long_name(const Option& option) {
    return "--" + option.names.front();
}

std::string compgen(const Completed& values) {
    return fmt::format("COMPREPLY=($(compgen {}-W \"{}\" -- \"$cur\"))", values.files ? "-f " : "",
                       fmt::join(values.choices, " "));
}

/// What follows each option that takes a value.
std::string bash_values(const Command& command, const std::string& indent) {
    std::string lines;
    for (const auto& option : command.options) {
        if (!option.takes_value) continue;
        const auto values = completed(option);
        const bool nothing = values.choices.empty() && !values.files;
        lines += fmt::format("{}{}) {}return ;;\n", indent, long_name(option),
                             nothing ? "" : compgen(values) + "; ");
    }
    return lines;
}

/// A description within [ ] and ' '.
std::string zsh_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
        if (c == '\'') {
            result += "'\\''";
        } else {
            result += c == '\n' ? ' ' : c;
        }
    }
    return result;
}

std::string zsh_values(const Completed& values) {
    if (values.files && !values.choices.empty())
        return fmt::format("value:{{_alternative \"words\\:word\\:({})\" \"files\\:file\\:_files\"}}",
                           fmt::join(values.choices, " "));
    if (values.files) return "file:_files";
    if (values.choices.empty()) return "value: ";
    return fmt::format("value:({})", fmt::join(values.choices, " "));
}

std::string zsh_options(const Command& command, const std::string& indent) {
    std::string lines;
    for (const auto& option : command.options) {
        lines += fmt::format("{}'{}[{}]", indent, long_name(option), zsh_text(option.description));
        if (option.takes_value) lines += ":" + zsh_values(completed(option));
        lines += "' \\\n";
    }
    return lines;
}

}  // namespace

std::string bash_completion(const Command& program) {
    std::string commands_part;
    std::vector<std::string> words;
    for (const auto& command : program.commands) {
        words.push_back(command.name);
        Completed values;
        for (const auto& option : command.positionals) values = completed(option);
        for (const auto& option : command.options) values.choices.push_back(long_name(option));
        const std::string of_options = bash_values(command, "                ");
        commands_part += fmt::format("        {})\n", command.name);
        if (!of_options.empty())
            commands_part += fmt::format("            case $prev in\n{}            esac\n", of_options);
        commands_part += fmt::format("            {}; return ;;\n", compgen(values));
    }
    for (const auto& option : program.options) words.push_back(long_name(option));
    const std::string values_part = bash_values(program, "        ");
    return fmt::format(R"(# bash completion for {0}. To use it: source <({0} completion bash)
_{0}() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    if ((COMP_CWORD > 1)); then
        case ${{COMP_WORDS[1]}} in
{1}        esac
    fi
    case $prev in
{2}    esac
    COMPREPLY=($(compgen -W "{3}" -- "$cur"))
}}
complete -o filenames -F _{0} {0}
)",
                       program.name, commands_part, values_part, fmt::join(words, " "));
}

std::string zsh_completion(const Command& program) {
    std::string commands_part;
    std::string list;
    for (const auto& command : program.commands) {
        list += fmt::format("{}\\:\"{}\" ", command.name, zsh_text(command.description));
        std::string lines = zsh_options(command, "                ");
        for (const auto& option : command.positionals)
            lines += fmt::format("                '1:{}' \\\n", zsh_values(completed(option)));
        commands_part += fmt::format(
            "            {})\n                shift words; (( CURRENT-- ))\n"
            "                _arguments \\\n{}                && return ;;\n",
            command.name, lines);
    }
    if (!list.empty()) list.pop_back();
    return fmt::format(R"(#compdef {0}
# zsh completion for {0}. To use it: source <({0} completion zsh), or save it as _{0} in $fpath
_{0}() {{
    if (( CURRENT > 2 )); then
        case $words[2] in
{1}        esac
    fi
    _arguments \
{2}        '1:command:(({3}))'
}}
if [[ $funcstack[1] == _{0} ]]; then _{0} "$@"; else compdef _{0} {0}; fi
)",
                       program.name, commands_part, zsh_options(program, "        "), list);
}

}  // namespace spectra::console
