#include "completion.hpp"

#include "values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace spectra::cli {

namespace {

struct Completed {
    std::vector<std::string> choices;
    bool files = false;
};

/// "png,svg|none" has three choices, "auto|FILE" one and files.
Completed completed(const CLI::Option& option) {
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
    for (const char c : option.get_type_name()) {
        if (c == '|' || c == ',') {
            finish();
        } else {
            word += c;
        }
    }
    finish();
    return result;
}

std::vector<const CLI::Option*> named_options(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<const CLI::Option*> positionals(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::App*> commands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string long_name(const CLI::Option& option) {
    return "--" + option.get_lnames().front();
}

bool takes_value(const CLI::Option& option) {
    return option.get_expected_min() > 0;
}

std::string compgen(const Completed& values) {
    return fmt::format("COMPREPLY=($(compgen {}-W \"{}\" -- \"$cur\"))", values.files ? "-f " : "",
                       fmt::join(values.choices, " "));
}

/// What follows each option that takes a value.
std::string bash_values(const CLI::App& app, const std::string& indent) {
    std::string lines;
    for (const auto* option : named_options(app)) {
        if (!takes_value(*option)) continue;
        const auto values = completed(*option);
        const bool nothing = values.choices.empty() && !values.files;
        lines += fmt::format("{}{}) {}return ;;\n", indent, long_name(*option),
                             nothing ? "" : compgen(values) + "; ");
    }
    return lines;
}

std::string bash_script(const CLI::App& app) {
    std::string commands_part;
    std::vector<std::string> words;
    for (const auto* command : commands(app)) {
        words.push_back(command->get_name());
        Completed values;
        for (const auto* option : positionals(*command)) values = completed(*option);
        for (const auto* option : named_options(*command)) values.choices.push_back(long_name(*option));
        const std::string of_options = bash_values(*command, "                ");
        commands_part += fmt::format("        {})\n", command->get_name());
        if (!of_options.empty())
            commands_part += fmt::format("            case $prev in\n{}            esac\n", of_options);
        commands_part += fmt::format("            {}; return ;;\n", compgen(values));
    }
    for (const auto* option : named_options(app)) words.push_back(long_name(*option));
    const std::string values_part = bash_values(app, "        ");
    return fmt::format(R"(# bash completion for spectra. To use it: source <(spectra completion bash)
_spectra() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    if ((COMP_CWORD > 1)); then
        case ${{COMP_WORDS[1]}} in
{}        esac
    fi
    case $prev in
{}    esac
    COMPREPLY=($(compgen -W "{}" -- "$cur"))
}}
complete -o filenames -F _spectra spectra
)",
                       commands_part, values_part, fmt::join(words, " "));
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

std::string zsh_options(const CLI::App& app, const std::string& indent) {
    std::string lines;
    for (const auto* option : named_options(app)) {
        lines += fmt::format("{}'{}[{}]", indent, long_name(*option), zsh_text(option->get_description()));
        if (takes_value(*option)) lines += ":" + zsh_values(completed(*option));
        lines += "' \\\n";
    }
    return lines;
}

std::string zsh_script(const CLI::App& app) {
    std::string commands_part;
    std::string list;
    for (const auto* command : commands(app)) {
        list += fmt::format("{}\\:\"{}\" ", command->get_name(), zsh_text(command->get_description()));
        std::string lines = zsh_options(*command, "                ");
        for (const auto* option : positionals(*command))
            lines += fmt::format("                '1:{}' \\\n", zsh_values(completed(*option)));
        commands_part += fmt::format(
            "            {})\n                shift words; (( CURRENT-- ))\n"
            "                _arguments \\\n{}                && return ;;\n",
            command->get_name(), lines);
    }
    if (!list.empty()) list.pop_back();
    return fmt::format(R"(#compdef spectra
# zsh completion for spectra. To use it: source <(spectra completion zsh), or save it as _spectra in $fpath
_spectra() {{
    if (( CURRENT > 2 )); then
        case $words[2] in
{}        esac
    fi
    _arguments \
{}        '1:command:(({}))'
}}
if [[ $funcstack[1] == _spectra ]]; then _spectra "$@"; else compdef _spectra spectra; fi
)",
                       commands_part, zsh_options(app, "        "), list);
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
    return to_choice("completion", shell, {"bash", "zsh"}) == "bash" ? bash_script(app) : zsh_script(app);
}

}  // namespace spectra::cli
