#include "spectrum/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spectra {
namespace {

TEST(Certificate, NothingCheckedIsNotCertified) {
    Certificate certificate;
    EXPECT_FALSE(certificate.certified);
    EXPECT_EQ(certificate.message, "not solved");
    certificate.judge({});
    EXPECT_FALSE(certificate.certified);
}

TEST(Certificate, AllChecksMustHold) {
    Certificate certificate;
    certificate.judge({{"mass", 1e-5, 1e-5, "the mass is off"}});
    EXPECT_TRUE(certificate.certified);
    EXPECT_EQ(certificate.message, "certified");
    certificate.judge({{"mean square", 1e-5, 2e-5, "the mean square is off"}, {"points", 0, 1, "a point is lost"}});
    EXPECT_FALSE(certificate.certified);
    EXPECT_EQ(certificate.message, "the mean square is off") << "the first that does not hold";
    EXPECT_EQ(certificate.checks.size(), 3u);
    certificate.judge({{"more", 1, 0, ""}});
    EXPECT_FALSE(certificate.certified) << "what did not hold is not forgotten";
}

TEST(Certificate, NanNeverHolds) {
    EXPECT_FALSE((Check{"mass", INFINITY, std::nan(""), ""}.holds()));
    EXPECT_FALSE((Check{"mass", std::nan(""), 0, ""}.holds()));
}

}  // namespace
}  // namespace spectra
