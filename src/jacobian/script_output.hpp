#pragma once

#include <memory>

namespace spectra::jacobian {

/// While it lives, nothing that a script prints reaches standard output, which is the program's own (--json): what
/// TorchScript prints and warns of is made printable and goes to standard error, and so does anything else that is
/// written to standard output.
class ScriptOutput {
public:
    ScriptOutput();
    ScriptOutput(const ScriptOutput&) = delete;
    ScriptOutput& operator=(const ScriptOutput&) = delete;
    ~ScriptOutput();

private:
    struct Handlers;
    std::unique_ptr<Handlers> handlers_;
    int standard_output_;
};

}  // namespace spectra::jacobian
