#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace spectra::cli {
namespace {

const std::vector<std::string> names{"identity", "cayley", "cayley-hybrid", "orthogonal", "gaussian"};

TEST(Nearest, FindsWhatWasMeant) {
    EXPECT_EQ(nearest("cayly", names), "cayley");
    EXPECT_EQ(nearest("acyley", names), "cayley") << "a swap is one mistake";
    EXPECT_EQ(nearest("cayley-hibryd", names), "cayley-hybrid");
    EXPECT_EQ(nearest("identiy", names), "identity");
    EXPECT_EQ(nearest("ortho", names), "orthogonal") << "the only one it begins";
    EXPECT_EQ(nearest("cayley", names), "cayley");
}

TEST(Nearest, DoesNotGuessWildly) {
    EXPECT_EQ(nearest("", names), std::nullopt);
    EXPECT_EQ(nearest("sinkhorn", names), std::nullopt);
    EXPECT_EQ(nearest("xy", names), std::nullopt);
    EXPECT_EQ(nearest("-", {"--depth"}), std::nullopt);
    EXPECT_EQ(nearest(std::string(100000, 'c'), names), std::nullopt);
}

TEST(Suggestion, NamesTheNearestAndAllThatIsAccepted) {
    EXPECT_EQ(suggestion("gausian", {"gaussian", "identity"}),
              "; did you mean 'gaussian'? (accepted: gaussian, identity)");
    EXPECT_EQ(suggestion("x", {"gaussian", "identity"}), "; accepted: gaussian, identity");
}

}  // namespace
}  // namespace spectra::cli
