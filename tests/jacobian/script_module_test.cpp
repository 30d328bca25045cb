#include "jacobian/script_module.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_refused.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "support/torch_script.hpp"
#include "weightfile/checkpoint_files.hpp"

namespace spectra::train {
namespace {

using spectra::testing::expect_refused;

constexpr const char* script = R"(
import sys, zipfile, torch
from typing import Dict
folder = sys.argv[1] + '/'
torch.manual_seed(1)

class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([[3., 0.], [0., -4.], [0., 0.]]))
        self.register_buffer('order', torch.tensor([2, 0, 1]))
        self.drop = torch.nn.Dropout(0.5)
    def forward(self, x):
        return self.drop(torch.matmul(x, self.weight.t())).index_select(-1, self.order) + 1

class Perceptron(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stack = torch.nn.Sequential(torch.nn.LayerNorm(width), torch.nn.Linear(width, 2 * width),
                                         torch.nn.GELU(), torch.nn.Linear(2 * width, width))
    def forward(self, x):
        return x + self.stack(x), x.sum()

class AcrossBatch(torch.nn.Module):
    def forward(self, x):
        return x - x.mean(0, keepdim=True) + 2 * x

class Single(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((1, 2), 0.5))
    def forward(self, x):
        return torch.matmul(self.weight, x.to(torch.float32))

class Named(torch.nn.Module):
    def forward(self, x) -> Dict[str, torch.Tensor]:
        return {'y': x}

def rewritten(source, target, change):
    with zipfile.ZipFile(folder + source) as read, zipfile.ZipFile(folder + target, 'w', zipfile.ZIP_STORED) as write:
        for name in read.namelist():
            write.writestr(name, change(name, read.read(name)))

layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
with torch.no_grad():  # its fused operation is what is traced then
    torch.jit.save(torch.jit.trace(layer, torch.randn(1, 3, 8)), folder + 'fused.pt')

for name, module in (('linear', Linear()), ('perceptron', Perceptron(24)), ('across', AcrossBatch()),
                     ('single', Single()), ('named', Named())):
    torch.jit.save(torch.jit.script(module), folder + name + '.pt')
rewritten('linear.pt', 'newer.pt', lambda name, data: b'4711\n' if name.endswith('/version') else data)
rewritten('linear.pt', 'operator.pt', lambda name, data: data.replace(b'torch.matmul', b'torch.matmul_of_tomorrow')
                                             if name.endswith('.py') else data)
torch.save(torch.tensor([[1.5, -2.]]), folder + 'input.pt')
torch.save({'input': torch.zeros(1, 2), 'other': torch.ones(3)}, folder + 'two.pt')
torch.save({'a': torch.zeros(1, 2), 'b': torch.ones(3)}, folder + 'unclear.pt')
torch.save(torch.tensor([1, 2]), folder + 'whole.pt')
)";

/// The files above, written once; torch.jit wants to see the source of what it compiles.
const std::filesystem::path& files() {
    static const spectra::testing::TemporaryFolder folder;
    static const bool written = [] {
        const auto source = folder.write("write.py", script);
        const auto python =
            spectra::testing::run_process({spectra::testing::python_with_torch(), source.string(), folder.path().string()});
        if (python.status != 0) throw std::runtime_error("write.py failed: " + python.err);
        return true;
    }();
    static_cast<void>(written);
    return folder.path();
}

std::filesystem::path file(const std::string& name) {
    return files() / (name + ".pt");
}

void expect_values(const jacobian::JacobianLaw& law, const std::vector<double>& ascending, double tolerance) {
    ASSERT_EQ(law.log_values.size(), ascending.size());
    for (std::size_t i = 0; i < ascending.size(); ++i)
        EXPECT_NEAR(std::exp(law.log_values[i]), ascending[i], tolerance);
}

class ScriptModule : public ::testing::Test {
protected:
    void SetUp() override { SPECTRA_NEEDS_PYTHON_TORCH(); }
};

TEST_F(ScriptModule, HasTheSingularValuesOfItsWeights) {
    const jacobian::ScriptModule module(file("linear"));
    EXPECT_EQ(module.precision(), torch::kFloat);
    const auto input = jacobian::read_input(file("input"));
    EXPECT_TRUE(torch::equal(input, torch::tensor({{1.5, -2.0}}, torch::kDouble)));
    for (const bool wide : {true, false}) {
        jacobian::ScriptModule::Options options;
        options.double_precision = wide;
        const auto result = module.law(input, options);
        EXPECT_EQ(result.double_precision, wide);
        EXPECT_TRUE(result.batched);
        EXPECT_EQ(result.law.inputs, 2);
        EXPECT_EQ(result.law.outputs, 3);
        expect_values(result.law, {3, 4}, 1e-6);  // in evaluation mode nothing is dropped
    }
    // The same without a batch dimension.
    const auto single = module.law(input[0], {});
    EXPECT_FALSE(single.batched);
    expect_values(single.law, {3, 4}, 1e-14);
}

TEST_F(ScriptModule, DifferentiatesTheWholeBatchWhereItsRowsMix) {
    const jacobian::ScriptModule module(file("across"));
    const auto alone = module.law(jacobian::drawn_input({1, 3}, 1), {});
    EXPECT_FALSE(alone.batched);
    expect_values(alone.law, {2, 2, 2}, 1e-14);
    const auto pair = module.law(jacobian::drawn_input({2, 1}, 1), {});
    EXPECT_FALSE(pair.batched);
    expect_values(pair.law, {2, 3}, 1e-14);  // mean and difference of the two
}

TEST_F(ScriptModule, WithoutTheMatrixIsThatOfTheMatrix) {
    const jacobian::ScriptModule module(file("perceptron"));
    for (const auto& shape : {std::vector<int64_t>{1, 24}, {2, 24}}) {
        const auto input = jacobian::drawn_input(shape, 1, 3);
        const auto exact = module.law(input, {});
        jacobian::ScriptModule::Options options;
        options.most_exact = 10;
        const auto probed = module.law(input, options);
        EXPECT_EQ(exact.batched, shape[0] == 1);
        EXPECT_EQ(probed.batched, shape[0] == 1);
        EXPECT_EQ(exact.law.inputs, input.numel());
        EXPECT_TRUE(exact.law.exact && !probed.law.exact);
        EXPECT_LT(probed.law.adjoint_defect, 1e-9);
        const double largest = exact.law.metrics.largest;
        EXPECT_NEAR(probed.law.metrics.largest, largest, 1e-6 * largest);
        EXPECT_NEAR(probed.law.metrics.smallest, exact.law.metrics.smallest, 1e-6 * largest);
    }
}

TEST_F(ScriptModule, ThatInsistsOnSinglePrecisionIsMeasuredInIt) {
    const jacobian::ScriptModule module(file("single"));
    const auto result = module.law(jacobian::drawn_input({2}, 1), {});
    EXPECT_FALSE(result.double_precision);
    expect_values(result.law, {std::sqrt(0.5)}, 1e-6);
}

TEST_F(ScriptModule, OfANewerTorchIsRefusedWithBothVersions) {
    expect_refused([] { jacobian::ScriptModule(file("newer")); },
                   {"newer.pt: ", "format 4711", "reads up to", TORCH_VERSION});
    expect_refused([] { jacobian::ScriptModule(file("operator")); },
                   {"operator.pt: ", "aten::matmul_of_tomorrow", TORCH_VERSION});
}

TEST_F(ScriptModule, FusedOperationsWithoutADerivativeAreNamed) {
    const jacobian::ScriptModule module(file("fused"));
    expect_refused([&] { module.law(jacobian::drawn_input({1, 3, 8}, 1), {}); },
                   {"fused.pt: ", "aten::_transformer_encoder_layer_fwd", "without a derivative", "training mode"});
}

TEST_F(ScriptModule, OtherFilesAndInputsAreRefusedInALine) {
    expect_refused([] { jacobian::ScriptModule(file("input")); }, {"input.pt: ", "a torch.save file", "TorchScript"});
    expect_refused([] { jacobian::ScriptModule(file("missing")); }, {"missing.pt"});
    const jacobian::ScriptModule linear(file("linear"));
    expect_refused([&] { linear.law(jacobian::drawn_input({1, 5}, 1), {}); }, {"linear.pt: ", "shape"});
    expect_refused([&] { linear.law(jacobian::read_input(file("whole")), {}); },
                   {"linear.pt: ", "floating point"});
    expect_refused(
        [] {
            jacobian::ScriptModule(file("named")).law(jacobian::drawn_input({1, 2}, 1), {});
        },
        {"named.pt: ", "Dict"});
    EXPECT_EQ(jacobian::read_input(file("two")).numel(), 2);
    expect_refused([] { jacobian::read_input(file("unclear")); }, {"unclear.pt: ", "2 tensors"});
}

std::filesystem::path numpy_file(const std::string& name) {
    return std::filesystem::path(SPECTRA_DATA_DIR) / "npy" / name;
}

TEST(ReadInput, TakesTheArraysThatNumpyWrites) {
    const auto counting = torch::arange(6, torch::kDouble).reshape({2, 3});
    for (const char* const name : {"little-f2.npy", "big-f4.npy", "little-f8.npy", "version-2.npy"}) {
        const auto input = jacobian::read_input(numpy_file(name));
        EXPECT_EQ(input.scalar_type(), torch::kDouble) << name;
        EXPECT_TRUE(torch::equal(input, counting)) << name;
    }
    // Tokens: integers stay integers.
    for (const char* const name : {"little-i8.npy", "big-i4.npy", "u1.npy"}) {
        const auto input = jacobian::read_input(numpy_file(name));
        EXPECT_EQ(input.scalar_type(), torch::kLong) << name;
        EXPECT_TRUE(torch::equal(input, counting.to(torch::kLong))) << name;
    }
    EXPECT_EQ(jacobian::read_input(numpy_file("only.npz")).dim(), 2);
}

TEST(ReadInput, TakesTheArrayOfAnArchiveByItsName) {
    const spectra::testing::TemporaryFolder folder;
    const auto npy = [](const std::string& number) {
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n";
        return std::string("\x93NUMPY\x01\0", 8) + tests::little(header.size(), 2) + header + number;
    };
    const std::string one("\0\0\0\0\0\0\xf0\x3f", 8), two("\0\0\0\0\0\0\0\x40", 8);
    const auto written = [&](const std::string& name, const std::string& first, const std::string& second) {
        return folder.write(name, tests::zip({{first, npy(one)}, {second, npy(two)}}));
    };
    EXPECT_EQ(jacobian::read_input(written("a.npz", "other.npy", "x.npy"))[0].item<double>(), 2);
    EXPECT_EQ(jacobian::read_input(written("b.npz", "input.npy", "x.npy"))[0].item<double>(), 1);
}

TEST(ReadInput, RefusesOtherArraysInALine) {
    expect_refused([] { jacobian::read_input(numpy_file("several.npz")); },
                   {"several.npz: ", "2 arrays", "input"});
    expect_refused([] { jacobian::read_input(numpy_file("complex64.npy")); },
                   {"complex64.npy: ", "must be real"});
    expect_refused([] { jacobian::read_input(numpy_file("object.npy")); }, {"object.npy: ", "pickle"});
}

TEST(DrawnInput, IsTheSameInEveryRun) {
    const auto a = jacobian::drawn_input({3, 4}, 5, 1);
    EXPECT_TRUE(torch::equal(a, jacobian::drawn_input({3, 4}, 5, 1)));
    EXPECT_FALSE(torch::equal(a, jacobian::drawn_input({3, 4}, 5, 2)));
    EXPECT_FALSE(torch::equal(a, jacobian::drawn_input({3, 4}, 6, 1)));
}

}  // namespace
}  // namespace spectra::train
