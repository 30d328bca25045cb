#pragma once

#include "weightfile/bytes.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

/// A target is LLVMFuzzerTestOneInput, as libFuzzer calls it, and a way from a file to an input. The driver in
/// mutate.cpp calls both where there is no libFuzzer.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// What the target is to start from, of a file's content; empty where that is nothing for it.
std::string fuzz_input(const std::string& file);

namespace spectra::fuzz {

inline weightfile::Bytes bytes(const std::uint8_t* data, std::size_t size) {
    return std::as_bytes(std::span(data, size));
}

inline std::string text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Runs `action`; it may refuse its input in one line that begins with the input's name, and nothing else.
template <class Action>
void must_read_or_refuse(Action&& action, std::string_view name = "input: ") {
    try {
        action();
    } catch (const std::invalid_argument& error) {
        const std::string message = error.what();
        if (!message.starts_with(name) || message.find('\n') != std::string::npos) std::abort();
    }
}

}  // namespace spectra::fuzz
