#pragma once

#include "console/terminal.hpp"
#include "jacobian/torch.hpp"

#include <stdexcept>

namespace spectra::cli {

/// What `command` returns. Torch's messages end with a call stack; leave it out.
template <class Command>
int with_short_errors(Command command) {
    try {
        return command();
    } catch (const c10::Error& error) {
        throw std::runtime_error(console::one_line(error.what_without_backtrace()));
    }
}

}  // namespace spectra::cli
