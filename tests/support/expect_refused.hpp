#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::testing {

/// A user's mistake: `action` throws std::invalid_argument with one line that contains every word.
template <typename Action>
void expect_refused(Action&& action, const std::vector<std::string>& words) {
    try {
        action();
    } catch (const std::invalid_argument& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        for (const auto& word : words)
            EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' is not in: " << message;
        return;
    }
    ADD_FAILURE() << "accepted, but should be refused with: " << (words.empty() ? "" : words.front());
}

}  // namespace spectra::testing
