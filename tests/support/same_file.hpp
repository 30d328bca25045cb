#pragma once

#include "h5/file.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

namespace spectra::testing {

/// Everything below a group of one file is below one of another, but for what depends on the moment.
inline void expect_same(const h5::File& a, const std::string& in_a, const h5::File& b, const std::string& in_b,
                 const std::set<std::string>& apart = {"created", "seconds", "steps_per_second", "command"}) {
    SCOPED_TRACE(in_a);
    const auto below = [](const std::string& group, const std::string& name) {
        return group.empty() ? name : group + "/" + name;
    };
    ASSERT_EQ(a.attributes(in_a), b.attributes(in_b));
    for (const auto& name : a.attributes(in_a)) {
        if (apart.count(name) > 0) continue;
        EXPECT_EQ(a.string_attribute(in_a, name), b.string_attribute(in_b, name)) << name;
        const auto x = a.double_attribute(in_a, name), y = b.double_attribute(in_b, name);
        ASSERT_EQ(x.has_value(), y.has_value()) << name;
        if (!x) continue;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(*x), std::bit_cast<std::uint64_t>(*y))
            << name << ": " << *x << ", " << *y;
    }
    ASSERT_EQ(a.children(in_a), b.children(in_b));
    for (const auto& name : a.children(in_a)) {
        const auto one = below(in_a, name), other = below(in_b, name);
        if (a.is_group(one)) {
            expect_same(a, one, b, other, apart);
            continue;
        }
        if (name == "summary") {
            ASSERT_EQ(a.columns(one), b.columns(other));
            continue;
        }
        h5::Shape shape_a, shape_b;
        const auto x = a.read_doubles(one, shape_a), y = b.read_doubles(other, shape_b);
        ASSERT_EQ(shape_a, shape_b) << one;
        EXPECT_TRUE(x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0) << one;
    }
}

}  // namespace spectra::testing
