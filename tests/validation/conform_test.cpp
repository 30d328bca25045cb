#include "validation/conform.hpp"

#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "support/written_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <span>

namespace spectra::validation {
namespace {

using testing::expect_refused;

// A plain implementation with loops and without the library: everything that can be wrong is a field. Real: the type it
// computes in.

template <class Real>
using Grid = std::vector<std::vector<Real>>;

struct Numbers {
    int n = 4, p = 3, tokens = 6, sweeps = 20;
    double epsilon = 1e-6, norm_epsilon = 1e-6;
    Grid<double> fn;                  // n² + 2n rows of n·p
    std::vector<double> base, scale;  // n² + 2n, 3
    std::vector<Grid<double>> x;      // tokens of n rows of p
    Grid<double> branch;              // tokens of p
};

struct Results {
    Grid<double> pre, post;
    std::vector<Grid<double>> mixer, output;
};

/// What a code does; the defaults are DeepSeek-V4's.
struct Code {
    std::vector<int> order{0, 1, 2};  // places of pre, post and mixer
    bool scale_by_place = false;
    bool softmax = true, rows_first = false;
    int more_passes = 0;  // than 2T − 1
    bool pre_epsilon = true, mixer_epsilon = true, twice = true;
    bool transposed_raw = false, kept_transposed = false, applied_transposed = true;
    bool bfloat_mixer = false, bfloat_pre = false, bfloat_post = false;
    bool log_domain = false;  // the same, by logarithms
    // Bugs without a name.
    std::function<void(std::vector<double>&)> state;      // the normed state
    std::function<void(std::vector<double>&)> raw;        // n² + 2n numbers
    std::function<void(Grid<double>&)> mixer;             // the mixer as applied
    std::function<void(std::vector<double>&)> pre, post;  // themselves
    std::function<void(Grid<double>&)> output;            // X'
};

Code paper() {
    Code code;
    code.softmax = code.pre_epsilon = code.mixer_epsilon = code.applied_transposed = false;
    code.more_passes = 1;
    return code;
}

double to_bfloat(double x) {
    const auto single = static_cast<float>(x);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    bits += 0x7FFFU + ((bits >> 16) & 1U);
    bits &= 0xFFFF0000U;
    float rounded = 0;
    std::memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

template <class Real>
Grid<Real> transposed(const Grid<Real>& m) {
    Grid<Real> t(m.size(), std::vector<Real>(m.size()));
    for (std::size_t i = 0; i < m.size(); ++i)
        for (std::size_t j = 0; j < m.size(); ++j) t[j][i] = m[i][j];
    return t;
}

template <class Real>
void divide_rows(Grid<Real>& m, Real epsilon) {
    for (auto& row : m) {
        Real sum = epsilon;
        for (const Real v : row) sum += v;
        for (Real& v : row) v /= sum;
    }
}

template <class Real>
Grid<Real> normalised(Grid<Real> m, const Code& code, int passes, Real epsilon) {
    for (auto& row : m) {
        Real most = code.softmax ? row[0] : Real(0), sum = 0;
        if (code.softmax)
            for (const Real v : row) most = std::max(most, v);
        for (Real& v : row) sum += v = std::exp(v - most);
        if (code.softmax)
            for (Real& v : row) v = v / sum + epsilon;
    }
    for (int k = 0; k < passes; ++k) {
        if ((k % 2 == 0) == code.rows_first) {
            divide_rows(m, epsilon);
        } else {
            m = transposed(m);
            divide_rows(m, epsilon);
            m = transposed(m);
        }
    }
    return m;
}

/// exp, T sweeps, all in logarithms: a right way that rounds differently.
Grid<double> log_normalised(Grid<double> m, const Code& code, int passes) {
    const auto rows = [](Grid<double>& l) {
        for (auto& row : l) {
            double most = row[0], sum = 0;
            for (const double v : row) most = std::max(most, v);
            for (const double v : row) sum += std::exp(v - most);
            for (double& v : row) v -= most + std::log(sum);
        }
    };
    for (int k = 0; k < passes; ++k) {
        if ((k % 2 == 0) == code.rows_first) {
            rows(m);
        } else {
            m = transposed(m);
            rows(m);
            m = transposed(m);
        }
    }
    for (auto& row : m)
        for (double& v : row) v = std::exp(v);
    return m;
}

template <class Real>
std::vector<double> raw_of(const Numbers& in, const Code& code, std::size_t t) {
    std::vector<double> seen;
    Real square = 0;
    for (const auto& stream : in.x[t])
        for (const double v : stream)
            square += static_cast<Real>(v) * static_cast<Real>(v), seen.push_back(v);
    const Real norm = std::sqrt(square / static_cast<Real>(seen.size()) + static_cast<Real>(in.norm_epsilon));
    for (double& v : seen) v = static_cast<double>(static_cast<Real>(v) / norm);
    if (code.state) code.state(seen);
    std::vector<double> projected;
    for (const auto& row : in.fn) {
        Real sum = 0;
        for (std::size_t k = 0; k < seen.size(); ++k)
            sum += static_cast<Real>(row[k]) * static_cast<Real>(seen[k]);
        projected.push_back(static_cast<double>(sum));
    }
    return projected;
}

/// Slice k (0 pre, 1 post, 2 mixer) where the code looks for it, scaled and with its bias.
template <class Real>
std::vector<Real> slice(const Numbers& in, const Code& code, const std::vector<double>& projected, int k) {
    std::vector<std::size_t> sizes{static_cast<std::size_t>(in.n), static_cast<std::size_t>(in.n),
                                   static_cast<std::size_t>(in.n * in.n)};
    std::size_t begin = 0, place = 0;
    while (code.order[place] != k) begin += sizes[static_cast<std::size_t>(code.order[place++])];
    const Real scale = static_cast<Real>(in.scale[code.scale_by_place ? place : static_cast<std::size_t>(k)]);
    std::vector<Real> out;
    for (std::size_t i = begin; i < begin + sizes[static_cast<std::size_t>(k)]; ++i)
        out.push_back(scale * static_cast<Real>(projected[i]) + static_cast<Real>(in.base[i]));
    return out;
}

template <class Real>
void run_token(const Numbers& in, const Code& code, std::size_t t, Results& out) {
    const auto n = static_cast<std::size_t>(in.n), p = static_cast<std::size_t>(in.p);
    auto projected = raw_of<Real>(in, code, t);
    if (code.raw) code.raw(projected);
    std::vector<double> pre, post;
    for (const Real v : slice<Real>(in, code, projected, 0))
        pre.push_back(Real(1) / (Real(1) + std::exp(-v)) +
                      (code.pre_epsilon ? static_cast<Real>(in.epsilon) : Real(0)));
    for (const Real v : slice<Real>(in, code, projected, 1))
        post.push_back(Real(code.twice ? 2 : 1) / (Real(1) + std::exp(-v)));
    const auto flat = slice<Real>(in, code, projected, 2);
    Grid<Real> logits(n);
    for (std::size_t i = 0; i < n; ++i)
        logits[i].assign(flat.begin() + static_cast<long>(i * n),
                         flat.begin() + static_cast<long>((i + 1) * n));
    if (code.transposed_raw) logits = transposed(logits);
    const int passes = 2 * in.sweeps - 1 + code.more_passes;
    Grid<double> mixer(n, std::vector<double>(n));
    if (code.log_domain) {
        Grid<double> wide(n);
        for (std::size_t i = 0; i < n; ++i) wide[i].assign(logits[i].begin(), logits[i].end());
        mixer = log_normalised(wide, code, passes);
    } else {
        const auto m = normalised<Real>(logits, code, passes,
                                        code.mixer_epsilon ? static_cast<Real>(in.epsilon) : Real(0));
        for (std::size_t i = 0; i < n; ++i) mixer[i].assign(m[i].begin(), m[i].end());
    }
    if (code.kept_transposed) mixer = transposed(mixer);
    if (code.mixer) code.mixer(mixer);
    if (code.pre) code.pre(pre);
    if (code.post) code.post(post);
    if (code.bfloat_mixer)
        for (auto& row : mixer)
            for (double& v : row) v = to_bfloat(v);
    if (code.bfloat_pre)
        for (double& v : pre) v = to_bfloat(v);
    if (code.bfloat_post)
        for (double& v : post) v = to_bfloat(v);
    const auto acting = code.applied_transposed ? transposed(mixer) : mixer;
    Grid<double> output(n, std::vector<double>(p));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < p; ++c) {
            Real sum = static_cast<Real>(post[i]) * static_cast<Real>(in.branch[t][c]);
            for (std::size_t j = 0; j < n; ++j)
                sum += static_cast<Real>(acting[i][j]) * static_cast<Real>(in.x[t][j][c]);
            output[i][c] = static_cast<double>(sum);
        }
    if (code.output) code.output(output);
    out.pre.push_back(pre);
    out.post.push_back(post);
    out.mixer.push_back(mixer);
    out.output.push_back(output);
}

template <class Real = double>
Results run(const Numbers& in, const Code& code) {
    Results out;
    for (int t = 0; t < in.tokens; ++t) run_token<Real>(in, code, static_cast<std::size_t>(t), out);
    return out;
}

/// Logits of standard deviation `spread`, far enough apart that twenty sweeps do not make all codes equal. Three streams
/// or more: two that mix evenly have a symmetric mixer.
Numbers drawn(unsigned seed, double spread = 4) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> streams(3, 5), width(2, 6), sweeps(2, 20);
    Numbers in;
    in.n = streams(random);
    in.p = width(random);
    in.sweeps = sweeps(random);
    const int size = in.n * in.n + 2 * in.n;
    for (int i = 0; i < size; ++i) {
        auto& row = in.fn.emplace_back();
        for (int k = 0; k < in.n * in.p; ++k) row.push_back(normal(random) / std::sqrt(in.n * in.p));
        in.base.push_back((i < 2 * in.n ? 1 : spread) * normal(random));
    }
    in.scale = {0.5 + 0.1 * normal(random), 0.9 + 0.1 * normal(random), 1.7 + 0.1 * normal(random)};
    for (int t = 0; t < in.tokens; ++t) {
        auto& state = in.x.emplace_back();
        for (int i = 0; i < in.n; ++i) {
            auto& row = state.emplace_back();
            for (int c = 0; c < in.p; ++c) row.push_back(normal(random));
        }
        auto& branch = in.branch.emplace_back();
        for (int c = 0; c < in.p; ++c) branch.push_back(normal(random));
    }
    return in;
}

template <class... Sizes>
weightfile::Shape shape(Sizes... sizes) {
    return {static_cast<std::uint64_t>(sizes)...};
}

std::vector<double> flat(const Grid<double>& rows) {
    std::vector<double> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
}

std::vector<double> flat(const std::vector<Grid<double>>& grids) {
    std::vector<double> all;
    for (const auto& grid : grids) {
        const auto one = flat(grid);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

std::vector<testing::WrittenTensor> tensors(const Numbers& in, const Results& out) {
    const int n = in.n, p = in.p, t = in.tokens, size = n * n + 2 * n;
    return {{"fn", shape(size, n * p), flat(in.fn)},
            {"base", shape(size), in.base},
            {"scale", shape(3), in.scale},
            {"x", shape(t, n, p), flat(in.x)},
            {"branch", shape(t, p), flat(in.branch)},
            {"sweeps", {}, {double(in.sweeps)}},
            {"epsilon", {}, {in.epsilon}},
            {"norm_epsilon", {1}, {in.norm_epsilon}},
            {"pre", shape(t, n), flat(out.pre)},
            {"mixer", shape(t, n, n), flat(out.mixer)},
            {"post", shape(t, n), flat(out.post)},
            {"output", shape(t, n, p), flat(out.output)}};
}

ConnectionRecord record(const Numbers& in, const Results& out, const std::string& name = "candidate") {
    const auto bytes = testing::safetensors_of(tensors(in, out));
    return read_connection_record(
        weightfile::TensorFile::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), name));
}

Conformity compared(const Numbers& in, const Code& right, const Code& other) {
    return conform(record(in, run(in, right), "reference"), record(in, run(in, other)));
}

void expect_named(const Conformity& found, const std::string& words, const std::string& place) {
    EXPECT_FALSE(found.conforms) << place;
    ASSERT_EQ(found.findings.size(), 1U)
        << place << ": " << fmt::format("{}", fmt::join(found.findings, "; "));
    EXPECT_NE(found.findings.front().find(words), std::string::npos)
        << place << ": " << found.findings.front();
}

constexpr unsigned instances = 12;

/// A bug with a name, against both published schemes where it can be one of them.
void expect_found(const std::string& words, const std::function<void(Code&)>& plant, bool in_v4 = true,
                  bool in_paper = true, double spread = 4) {
    for (unsigned seed = 1; seed <= instances; ++seed)
        for (const bool v4 : {true, false}) {
            if (!(v4 ? in_v4 : in_paper)) continue;
            const Code right = v4 ? Code{} : paper();
            Code wrong = right;
            plant(wrong);
            const auto found = compared(drawn(seed, spread), right, wrong);
            EXPECT_EQ(found.scheme, v4 ? "DeepSeek-V4" : "mHC");
            expect_named(found, words, fmt::format("seed {}, {}", seed, found.scheme));
        }
}

TEST(Conform, ATransposedMixerIsNamedWhereverItWasTransposed) {
    expect_found("the mixer is transposed", [](Code& c) { c.applied_transposed = !c.applied_transposed; });
    expect_found("the mixer is transposed", [](Code& c) { c.kept_transposed = true; });
    expect_found("raw numbers are read column by column", [](Code& c) { c.transposed_raw = true; });
}

TEST(Conform, AMixerThatIsOnlyKeptTransposedIsRight) {
    for (unsigned seed = 1; seed <= instances; ++seed) {
        Code kept;
        kept.kept_transposed = true;
        kept.applied_transposed = false;
        const auto found = compared(drawn(seed), {}, kept);
        EXPECT_TRUE(found.conforms) << fmt::format("{}", fmt::join(found.findings, "; "));
        ASSERT_EQ(found.notes.size(), 1U);
        EXPECT_NE(found.notes.front().find("kept transposed"), std::string::npos);
    }
}

TEST(Conform, AWrongOrderOfSlicesIsNamed) {
    for (const auto& order :
         std::vector<std::vector<int>>{{1, 0, 2}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}})
        for (const bool by_place : {false, true})
            expect_found("the slices are in the wrong order", [&](Code& c) {
                c.order = order;
                c.scale_by_place = by_place;
            });
}

TEST(Conform, RowsBeforeColumnsIsNamed) {
    expect_found("rows are normalised before columns", [](Code& c) { c.rows_first = true; });
}

TEST(Conform, SoftmaxInPlaceOfExpIsNamed) {
    expect_found(
        "softmax in place of exp", [](Code& c) { c.softmax = true; }, false, true);
    expect_found(
        "exp in place of softmax", [](Code& c) { c.softmax = false; }, true, false);
}

TEST(Conform, AMissingEpsilonIsNamed) {
    expect_found(
        "epsilon of pre is missing", [](Code& c) { c.pre_epsilon = false; }, true, false);
    expect_found(
        "epsilon of the mixer is missing", [](Code& c) { c.mixer_epsilon = false; }, true, false);
}

TEST(Conform, AMissingFactorTwoIsNamed) {
    expect_found("factor 2 of post is missing", [](Code& c) { c.twice = false; });
}

TEST(Conform, MixersInBfloat16AreNamed) {
    expect_found("mixers are in bfloat16", [](Code& c) { c.bfloat_mixer = true; });
    expect_found("mixers, pre, post are in bfloat16",
                 [](Code& c) { c.bfloat_mixer = c.bfloat_pre = c.bfloat_post = true; });
}

TEST(Conform, TwoBugsAreBothNamed) {
    for (unsigned seed = 1; seed <= instances; ++seed) {
        Code wrong;
        wrong.twice = false;
        wrong.applied_transposed = false;
        const auto found = compared(drawn(seed), {}, wrong);
        EXPECT_EQ(found.findings,
                  (std::vector<std::string>{"the mixer is transposed", "factor 2 of post is missing"}));
    }
}

TEST(Conform, BugsInSinglePrecisionAreNamedToo) {
    for (unsigned seed = 1; seed <= instances; ++seed) {
        const auto in = drawn(seed);
        const auto expect = [&](const char* words, const Code& wrong) {
            expect_named(conform(record(in, run(in, {})), record(in, run<float>(in, wrong))), words,
                         fmt::format("seed {}", seed));
        };
        Code wrong;
        wrong.pre_epsilon = false;
        expect("epsilon of pre is missing", wrong);
        wrong = {};
        wrong.applied_transposed = false;
        expect("the mixer is transposed", wrong);
        wrong = {};
        wrong.twice = false;
        expect("factor 2", wrong);
        wrong = {};
        wrong.bfloat_mixer = true;
        expect("mixers are in bfloat16", wrong);
    }
}

/// Bugs that have no name here.
std::vector<std::pair<std::string, Code>> unnamed_bugs(const Numbers& in) {
    const auto n = static_cast<std::size_t>(in.n);
    std::vector<std::pair<std::string, Code>> all;
    const auto add = [&](const char* name, auto set) {
        Code code;
        set(code);
        all.emplace_back(name, code);
    };
    using Vector = std::vector<double>&;
    using Matrix = Grid<double>&;
    add("one pass more", [](Code& c) { c.more_passes = 1; });
    add("one pass fewer", [](Code& c) { c.more_passes = -1; });
    add("no normalisation", [&](Code& c) { c.more_passes = 1 - 2 * in.sweeps; });
    add("a state that is not normed", [](Code& c) {
        c.state = [](Vector v) {
            for (double& x : v) x *= 1.3;
        };
    });
    add("a state that is centred", [](Code& c) {
        c.state = [](Vector v) {
            double mean = 0;
            for (const double x : v) mean += x / static_cast<double>(v.size());
            for (double& x : v) x -= mean;
        };
    });
    add("streams in reverse", [](Code& c) { c.state = [](Vector v) { std::reverse(v.begin(), v.end()); }; });
    add("a projection without its first input", [](Code& c) { c.state = [](Vector v) { v[0] = 0; }; });
    add("no projection at all", [](Code& c) {
        c.raw = [](Vector v) {
            for (double& x : v) x = 0;
        };
    });
    add("tanh of the projection", [](Code& c) {
        c.raw = [](Vector v) {
            for (double& x : v) x = std::tanh(x);
        };
    });
    add("a projection of the wrong sign", [](Code& c) {
        c.raw = [](Vector v) {
            for (double& x : v) x = -x;
        };
    });
    add("raw numbers shifted by one",
        [](Code& c) { c.raw = [](Vector v) { std::rotate(v.begin(), v.begin() + 1, v.end()); }; });
    add("a mixer averaged with the identity", [n](Code& c) {
        c.mixer = [n](Matrix m) {
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j) m[i][j] = 0.5 * (m[i][j] + (i == j ? 1 : 0));
        };
    });
    add("a mixer with two rows exchanged",
        [](Code& c) { c.mixer = [](Matrix m) { std::swap(m[0], m[1]); }; });
    add("the identity for a mixer", [n](Code& c) {
        c.mixer = [n](Matrix m) {
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j) m[i][j] = i == j ? 1 : 0;
        };
    });
    add("a mixer that is squared", [](Code& c) {
        c.mixer = [](Matrix m) {
            for (auto& row : m)
                for (double& x : row) x *= x;
        };
    });
    add("a mixer of NaN", [](Code& c) { c.mixer = [](Matrix m) { m[0][0] = NAN; }; });
    add("pre that sums to one", [](Code& c) {
        c.pre = [](Vector v) {
            double sum = 0;
            for (const double x : v) sum += x;
            for (double& x : v) x /= sum;
        };
    });
    add("pre doubled", [](Code& c) {
        c.pre = [](Vector v) {
            for (double& x : v) x *= 2;
        };
    });
    add("post of the other sign", [](Code& c) {
        c.post = [](Vector v) {
            for (double& x : v) x = 2 - x;
        };
    });
    add("post clipped at one", [](Code& c) {
        c.post = [](Vector v) {
            for (double& x : v) x = std::min(x, 1.0) * 0.99;
        };
    });
    add("an output without its branch", [&](Code& c) {
        c.output = [](Matrix m) {
            for (auto& row : m) row[0] += 0.1;
        };
    });
    add("an output that is scaled", [](Code& c) {
        c.output = [](Matrix m) {
            for (auto& row : m)
                for (double& x : row) x *= 0.9;
        };
    });
    add("an output with two streams exchanged",
        [](Code& c) { c.output = [](Matrix m) { std::swap(m[0], m[1]); }; });
    return all;
}

TEST(Conform, BugsWithoutANameAreFoundAndCalledUnknown) {
    ASSERT_GE(unnamed_bugs(drawn(1)).size(), 20U);
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const auto in = drawn(seed);
        for (const auto& [name, code] : unnamed_bugs(in))
            expect_named(compared(in, {}, code), "unknown: ", fmt::format("{}, seed {}", name, seed));
    }
}

TEST(Conform, RightOnesRaiseNoAlarm) {
    int count = 0;
    for (unsigned seed = 1; seed <= 50; ++seed) {
        const auto in = drawn(seed, seed % 2 == 0 ? 1 : 4);
        const auto right = [&](const Code& reference, const Results& results, const char* what) {
            const auto found = conform(record(in, run(in, reference)), record(in, results));
            EXPECT_TRUE(found.conforms)
                << what << ", seed " << seed << ": " << fmt::format("{}", fmt::join(found.findings, "; "));
            ++count;
        };
        right({}, run(in, {}), "double");
        right({}, run<float>(in, {}), "float");
        right(paper(), run<float>(in, paper()), "float, mHC");
        Code logs = paper();
        logs.log_domain = true;
        right(paper(), run(in, logs), "logarithms");
        // Activations in bfloat16 around mixers in single precision, as models are run.
        auto half = run<float>(in, {});
        for (auto& grid : half.output)
            for (auto& row : grid)
                for (double& x : row) x = to_bfloat(x);
        right({}, half, "output in bfloat16");
    }
    EXPECT_GE(count, 100);
}

TEST(Conform, AReferenceOfNoKnownSchemeIsComparedByItsNumbers) {
    const auto in = drawn(3);
    Code strange;
    strange.post = [](std::vector<double>& v) {
        for (double& x : v) x *= 1.5;
    };
    const auto results = run(in, strange);
    const auto same = conform(record(in, results), record(in, results));
    EXPECT_TRUE(same.conforms);
    EXPECT_EQ(same.scheme, "");
    expect_named(conform(record(in, results), record(in, run(in, {}))), "unknown: post differs", "");
}

TEST(Conform, RecordsOfOtherNumbersAreNotComparable) {
    const auto in = drawn(1);
    const auto reference = record(in, run(in, {}), "reference");
    const auto refused = [&](const Numbers& other, const std::vector<std::string>& words) {
        expect_refused([&] { conform(reference, record(other, run(other, {}))); }, words);
    };
    auto other = in;
    other.fn[0][0] += 0.01;
    refused(other, {"candidate: not comparable", "'fn'", "reference"});
    other = in;
    other.x[2][0][0] += 0.01;
    refused(other, {"'x'", "other values"});
    other = in;
    other.sweeps += 1;
    refused(other, {"other settings"});
    other = in;
    other.epsilon = 1e-8;
    refused(other, {"other settings"});
    refused(drawn(2), {"not comparable"});
}

TEST(Conform, FilesMustHoldWhatIsCompared) {
    const auto in = drawn(1);
    const auto all = tensors(in, run(in, {}));
    const auto read = [](const std::vector<testing::WrittenTensor>& some) {
        const auto bytes = testing::safetensors_of(some);
        read_connection_record(
            weightfile::TensorFile::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "w.st"));
    };
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (all[k].key == "sweeps" || all[k].key.ends_with("epsilon")) continue;
        auto some = all;
        some.erase(some.begin() + static_cast<long>(k));
        expect_refused([&] { read(some); }, {"w.st: ", "has no key '" + all[k].key + "'", "docs/conform.md"});
    }
    auto wrong = all;
    wrong[5].values = {2.5};
    expect_refused([&] { read(wrong); }, {"'sweeps'", "is 2.5", "whole number"});
    wrong = all;
    wrong[6].values = {-1};
    expect_refused([&] { read(wrong); }, {"'epsilon'", "must be 0 to 1"});
    wrong = all;
    wrong[9].shape = shape(1, in.n * in.n * in.tokens);
    expect_refused([&] { read(wrong); }, {"'mixer'", "must be "});
    wrong = all;
    wrong[1].values[0] = NAN;
    expect_refused([&] { read(wrong); }, {"'base'", "must be finite"});
}

}  // namespace
}  // namespace spectra::validation
