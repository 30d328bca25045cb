#pragma once

// std::to_chars of a double, which libc++ 14 lacks: the shortest text that reads back as the same number.

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace std {

inline to_chars_result to_chars(char* first, char* last, double value) {
    char text[32];
    for (int digits = 1; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, nullptr) == value) break;
    }
    const size_t length = strlen(text);
    if (length > static_cast<size_t>(last - first)) return {last, errc::value_too_large};
    memcpy(first, text, length);
    return {first + length, errc{}};
}

}  // namespace std
