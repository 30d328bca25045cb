#include "console/command.hpp"

#include <algorithm>

namespace spectra::console {

const Command* find_command(const Command& program, const std::string& name) {
    const auto found = std::find_if(program.commands.begin(), program.commands.end(),
                                    [&](const Command& command) { return command.name == name; });
    return found != program.commands.end() ? &*found : nullptr;
}

const Option* find_option(const Command& command, const std::string& name) {
    const auto found =
        std::find_if(command.options.begin(), command.options.end(), [&](const Option& option) {
            return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
        });
    return found != command.options.end() ? &*found : nullptr;
}

}  // namespace spectra::console
