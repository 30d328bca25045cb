#include "jacobian/script_output.hpp"

#include "base/text.hpp"
#include "jacobian/torch.hpp"

#include <torch/csrc/jit/runtime/print_handler.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace spectra::jacobian {

namespace {

void show(const std::string& text) {
    const std::string shown = printable(text, Lines::keep);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
}

class CleanWarnings : public c10::WarningHandler {
public:
#if TORCH_VERSION_MAJOR < 2
    void process(const c10::SourceLocation&, const std::string& message, const bool) override {
        show("script: warning: " + message + "\n");
    }
#else
    void process(const c10::Warning& warning) override { show("script: warning: " + warning.msg() + "\n"); }
#endif
};

}  // namespace

struct ScriptOutput::Handlers {
    CleanWarnings warnings;
#if TORCH_VERSION_MAJOR < 2
    c10::Warning::WarningHandlerGuard guard{&warnings};
#else
    c10::WarningUtils::WarningHandlerGuard guard{&warnings};
#endif
    torch::jit::PrintHandler before = torch::jit::getPrintHandler();
};

ScriptOutput::ScriptOutput() : handlers_(std::make_unique<Handlers>()) {
    std::fflush(stdout);
    standard_output_ = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    torch::jit::setPrintHandler([](const std::string& text) { show(text); });
}

ScriptOutput::~ScriptOutput() {
    torch::jit::setPrintHandler(handlers_->before);
    std::cout.flush();
    std::fflush(stdout);
    if (standard_output_ >= 0) {
        dup2(standard_output_, STDOUT_FILENO);
        close(standard_output_);
    }
}

}  // namespace spectra::jacobian
