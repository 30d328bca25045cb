#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>

#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "support/torch_script.hpp"
#include "train/checkpoint_file.hpp"

/// The command validate for models that are run.
namespace spectra {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class ValidateProgram : public ::testing::Test {
protected:
    testing::ProcessResult run(const Words& words) {
        Words all{SPECTRA_BINARY};
        all.insert(all.end(), words.begin(), words.end());
        testing::ProcessOptions options;
        options.folder = folder_.path();
        return testing::run_process(all, options);
    }
    void train(const std::string& out, const Words& more = {}, const std::string& channels = "32") {
        Words words{"train",  "near-pi-single", "--layers",  "2",       "--channels", channels,   "--samples",
                    "8",      "--steps",        "4",         "--batch", "2",          "--device", "cpu",
                    "--plot", "none",           "--threads", "1",       "--out",      out};
        words.insert(words.end(), more.begin(), more.end());
        const auto result = run(words);
        ASSERT_EQ(result.status, 0) << result.err;
    }
    testing::TemporaryFolder folder_;
};

TEST_F(ValidateProgram, CheckpointsThatMakeNoModelAreRefusedInALine) {
    const auto refused = [&](const std::string& file, const std::string& why) {
        const auto result = run({"validate", file, "--plot", "none"});
        EXPECT_EQ(result.status, 2) << result.out;
        EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
        EXPECT_EQ(result.err.find("json.exception"), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    };
    refused(SPECTRA_DATA_DIR "/layouts/spectra_cayley.ckpt", "key 'heads' not found");
    train("run", {"--mixer", "orthogonal"});
    const auto whole = train::load_checkpoint(folder_.path() / "run.ckpt");
    const auto changed = [&](const std::string& name, const auto& change) {
        auto copy = whole;
        change(copy);
        train::save_checkpoint(folder_.path() / name, copy);
        return name;
    };
    const auto configured = [&](const char* key, std::int64_t value) {
        return changed("changed.ckpt", [&](auto& c) {
            auto config = json::parse(c.config);
            config[key] = value;
            c.config = config.dump();
        });
    };
    refused(configured("layers", 1000000), "1000000 blocks of 32 channels are more than its");
    refused(configured("streams", 0), "a size is 0");
    refused(configured("layers", 3), "it has no parameter '");
    refused(changed("turned.ckpt", [](auto& c) { c.config.resize(1); }), "its config: ");
    refused(changed("cut.ckpt", [](auto& c) { c.model.begin()->second = torch::zeros({7}); }),
            "is of shape (7); its model has (");
}

TEST_F(ValidateProgram, JudgesACheckpoint) {
    train("run", {"--mixer", "orthogonal"});
    const auto result =
        run({"validate", "run.ckpt", "--inputs", "2", "--token", "5", "--json", "--threads", "1"});
    ASSERT_EQ(result.status, 0) << result.err << result.out;
    const auto object = json::parse(result.out);
    EXPECT_EQ(object["layout"], "spectra");
    EXPECT_EQ(object["layers"], 4);
    EXPECT_EQ(object["streams"], 4);
    EXPECT_EQ(object["step"], 4);
    EXPECT_EQ(object["verdict"], "PASS");
    EXPECT_LT(object["agreement"]["wasserstein1"].get<double>(), 0.02);
    EXPECT_LT(object["mixers"]["orthogonality_defect"].get<double>(), 1e-6);
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "spectra-validate-run-inputs2-token5.h5"));

    const auto strict = run({"validate", "run.ckpt", "--inputs", "1", "--token", "5", "--require",
                             "largest<=0.5", "--plot", "none", "--quiet", "--threads", "1"});
    EXPECT_EQ(strict.status, 1);
    EXPECT_NE(strict.err.find("required largest <= 0.5"), std::string::npos) << strict.err;

    // The mixers alone need no model.
    const auto at_zero = run({"validate", "run.ckpt", "--at", "zero", "--json", "--plot", "none"});
    ASSERT_EQ(at_zero.status, 0) << at_zero.err;
    EXPECT_TRUE(json::parse(at_zero.out)["measured"].is_null());
}

TEST_F(ValidateProgram, SeveralCheckpointsAreATable) {
    train("a", {"--mixer", "cayley"});
    train("b", {"--mixer", "cayley", "--seed", "7"});
    const auto result = run({"validate", "a.ckpt", "b.ckpt", "--inputs", "1", "--token", "3", "--plot",
                             "none", "--out", "both", "--threads", "1"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("verdict"), std::string::npos) << result.out;
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "both-1.h5"));
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "both-2.h5"));
}

TEST_F(ValidateProgram, WholeSequencesAndMistakes) {
    train("run", {"--architecture", "gpt"}, "8");
    const auto all = run({"validate", "run.ckpt", "--token", "all", "--inputs", "1", "--json", "--plot",
                          "none", "--threads", "1"});
    ASSERT_TRUE(all.status == 0 || all.status == 1) << all.err;
    const auto object = json::parse(all.out);
    EXPECT_NE(object["measured_at"].get<std::string>().find("N = 1016"), std::string::npos) << all.out;
    EXPECT_TRUE(object["predicted"].is_null());
    EXPECT_TRUE(
        object["alignment"].is_null());  // takes longer than the measurement: only where it is asked for
    const auto aligned = run({"validate", "run.ckpt", "--token", "all", "--inputs", "1", "--aligned", "2",
                              "--plot", "none", "--threads", "1"});
    ASSERT_TRUE(aligned.status == 0 || aligned.status == 1) << aligned.err;
    EXPECT_NE(aligned.out.find("W1 over the root mean square by triplets kept: 0: "), std::string::npos)
        << aligned.out;
    EXPECT_EQ(run({"validate", "run.ckpt", "--token", "all", "--triplets", "2"}).status, 2);
    // One stream and no mixers: its branches are measured and kept as those of other models are.
    const auto one = run({"validate", "run.ckpt", "--token", "3", "--inputs", "1", "--aligned", "2", "--json", "--plot",
                          "none", "--threads", "1"});
    ASSERT_TRUE(one.status == 0 || one.status == 1) << one.err;
    EXPECT_EQ(json::parse(one.out)["alignment"]["by_rank"].size(), 2U) << one.out;

    const auto far = run({"validate", "run.ckpt", "--token", "500"});
    EXPECT_EQ(far.status, 2);
    EXPECT_NE(far.err.find("--token 500: must be 0 to 126"), std::string::npos) << far.err;
    const auto contradiction = run({"validate", "run.ckpt", "--at", "zero", "--inputs", "3"});
    EXPECT_EQ(contradiction.status, 2);
    folder_.write("broken.ckpt", "not a checkpoint");
    const auto broken = run({"validate", "broken.ckpt"});
    EXPECT_EQ(broken.status, 2);
    EXPECT_EQ(std::count(broken.err.begin(), broken.err.end(), '\n'), 1) << broken.err;
}

TEST_F(ValidateProgram, AnyScriptedModule) {
    SPECTRA_NEEDS_PYTHON_TORCH();
    testing::ProcessOptions options;
    options.folder = folder_.path();
    const auto python = testing::run_process(
        {testing::python_with_torch(), "-c",
         "import torch\n"
         "torch.manual_seed(1)\n"
         "m = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh(), torch.nn.Linear(6, 6))\n"
         "torch.jit.script(m).save('m.ts')\n"
         "class Scale(torch.nn.Module):\n"
         "    def forward(self, x):\n"
         "        return x * torch.linspace(0.5, 1.5, 5000, dtype=x.dtype)\n"
         "torch.jit.trace(Scale(), torch.randn(1, 5000)).save('scale.ts')\n"
         "x = torch.randn(1, 6, dtype=torch.float64)\n"
         "torch.save(x, 'x.pt')\n"
         "m = m.double()\n"
         "j = torch.autograd.functional.jacobian(m, x).reshape(6, 6)\n"
         "print(torch.linalg.svdvals(j)[0].item())\n"},
        options);
    ASSERT_EQ(python.status, 0) << python.err;
    const auto result =
        run({"validate", "m.ts", "--run-script", "--input", "x.pt", "--json", "--plot", "none", "--threads", "1"});
    EXPECT_EQ(result.status, 1) << result.err;
    const auto object = json::parse(result.out);
    EXPECT_EQ(object["layout"], "TorchScript");
    EXPECT_NEAR(object["measured"]["largest"].get<double>(), std::stod(python.out), 1e-9);
    const auto drawn = run({"validate", "m.ts", "--run-script", "--shape", "1,6", "--inputs", "3", "--plot", "none",
                            "--quiet", "--threads", "1"});
    EXPECT_EQ(drawn.status, 1) << drawn.err;
    // Too large to form: probes, of their own for every input, with errors.
    const auto probed = run({"validate", "scale.ts", "--run-script", "--shape", "1,5000", "--inputs", "2", "--json", "--plot",
                             "none", "--threads", "1", "--device", "cpu"});
    EXPECT_EQ(probed.status, 1) << probed.err;
    const auto law = json::parse(probed.out);
    EXPECT_NEAR(law["measured"]["window"].get<double>(), 0.5, 0.01);
    EXPECT_GT(law["measured_error"]["window"].get<double>(), 1e-4);
    EXPECT_LT(law["measured_error"]["window"].get<double>(), 0.01);
    EXPECT_NE(law["measured_note"].get<std::string>().find("probes of"), std::string::npos) << probed.out;
    EXPECT_NEAR(law["measured"]["largest"].get<double>(), 1.5, 1e-3);
    const auto without = run({"validate", "m.ts", "--run-script"});
    EXPECT_EQ(without.status, 2);
    EXPECT_NE(without.err.find("--shape"), std::string::npos) << without.err;
}

/// Modules that do more than compute. PyTorch runs `__setstate__` while it loads, so that loading is an attack too.
class HostileScript : public ValidateProgram {
protected:
    void SetUp() override {
        SPECTRA_NEEDS_PYTHON_TORCH();
        folder_.write("write.py", R"py(
import importlib, sys, torch
sys.path.insert(0, '.')

def module(name, body, before='', loaded=''):
    open(name + '.py', 'w').write(f'''import torch
from typing import Tuple
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.zeros(1)
{loaded}
    def forward(self, x: torch.Tensor):
        {body}
        return 2 * x
''')
    torch.jit.script(importlib.import_module(name).M()).save(name + '.ts')

module('plain', 'pass')
module('saves', 'torch.save(x, "stolen")')
module('reads', 'x = x + torch.from_file("secret", False, 4, dtype=torch.uint8).sum()')
module('prints', 'print("{ \\x1b[31m not JSON")')
module('loops', 'while bool(x.sum() * 0 == 0): x = x + 1')
module('state', 'pass', loaded='''
    @torch.jit.export
    def __getstate__(self):
        return (self.a, self.training)
    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, bool]):
        torch.save(state[0], 'stolen')
        self.a = state[0]
        self.training = state[1]
''')
)py");
        folder_.write("secret", "1234");
        testing::ProcessOptions options;
        options.folder = folder_.path();
        const auto python = testing::run_process({testing::python_with_torch(), "write.py"}, options);
        ASSERT_EQ(python.status, 0) << python.err;
    }
    testing::ProcessResult validate(const std::string& file, const Words& more = {},
                                    testing::ProcessOptions options = {}) {
        Words words{SPECTRA_BINARY, "validate", file,   "--shape", "1,4",       "--inputs", "1",
                    "--plot",       "none",     "--json", "--quiet", "--threads", "1"};
        words.insert(words.end(), more.begin(), more.end());
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }
};

TEST_F(HostileScript, IsNotRunUnasked) {
    const auto result = validate("plain.ts");
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("plain.ts: a TorchScript module is a program"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("--run-script"), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    const auto asked = validate("plain.ts", {"--run-script"});
    EXPECT_EQ(asked.status, 1) << asked.err;
    EXPECT_NEAR(json::parse(asked.out)["measured"]["largest"].get<double>(), 2, 1e-12);
}

TEST_F(HostileScript, ThatTouchesFilesIsRefusedBeforeItIsLoaded) {
    for (const std::string name : {"saves", "reads", "state"}) {
        const auto result = validate(name + ".ts", {"--run-script"});
        EXPECT_EQ(result.status, 2) << name;
        EXPECT_NE(result.err.find(name == "reads" ? "calls 'from_file'" : "calls 'save'"), std::string::npos)
            << result.err;
        EXPECT_FALSE(std::filesystem::exists(folder_.path() / "stolen")) << name;
    }
}

TEST_F(HostileScript, DoesNotPrintIntoTheProgramsOutput) {
    const auto result = validate("prints.ts", {"--run-script"});
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_EQ(json::parse(result.out)["layout"], "TorchScript");
    EXPECT_NE(result.err.find("{ \\u001b[31m not JSON"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(HostileScript, ThatLoopsIsEnded) {
    testing::ProcessOptions options;
    options.interrupt_after = 3;
    options.interrupt_again_after = 4;
    options.interrupt_by = SIGTERM;
    auto result = validate("loops.ts", {"--run-script"}, options);
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_LT(result.seconds, 8);
    options.interrupt_again_after = {};
    result = validate("loops.ts", {"--run-script"}, options);
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_LT(result.seconds, 20);
}

}  // namespace
}  // namespace spectra
