#include "weightfile/script_scan.hpp"

#include "weightfile/torch_file.hpp"
#include "support/expect_refused.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace spectra::weightfile {
namespace {

using spectra::testing::expect_refused;

std::string method(const std::string& body) {
    return "class M(Module):\n  __parameters__ = []\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    " +
           body + "\n    return torch.mul(x, 2)\n";
}

TEST(ScriptScan, OperationsOnFilesAreRefusedHoweverTheyAreSpelled) {
    for (const std::string body : {
             "torch.save(x, \"stolen\")",
             "ops.aten.save(x, \"stolen\")",
             "y = torch.from_file(\"/etc/passwd\", False, 16)",
             "torch . save(x, \"stolen\")",
             "torch.\\\n    save(x, \"stolen\")",
             "torch.  # a comment\n    save(x, \"stolen\")",
             "t = torch\n    t.save(x, \"stolen\")",
             "a = ops.aten\n    a.from_file(\"f\")",
             "getattr(torch, \"save\")(x, \"stolen\")",
             "getattr(torch, 'save')(x, \"stolen\")",
             "getattr(torch, \"\"\"save\"\"\")(x, \"stolen\")",
             "getattr(torch, \"sa\" \"ve\")(x, \"stolen\")",
             "getattr(torch, \"\\x73ave\")(x, \"stolen\")",
             "getattr((torch), \"save\")(x, \"stolen\")",
             "getattr(getattr(ops, \"aten\"), \"save\")(x, \"stolen\")",
             "g = getattr\n    g(torch, \"save\")(x, \"stolen\")",
             "o = ops\n    o.aten.relu(x)",
             "ops.c10d.broadcast_(x)",
             "ops.profiler._record_function_enter(\"a\")",
             "rpc_sync(\"host\", f)",
             "y = __torch__.torch.classes.profiling.SourceStats()",
         })
        expect_refused([&] { refuse_unsafe_source(method(body), "m.pt: code"); }, {"m.pt: code: calls '"});
}

TEST(ScriptScan, ModulesThatComputeAreAccepted) {
    for (const std::string body : {
             "y = torch.linear(x, self.weight, self.bias)",
             "_0 = getattr(self.layers, \"0\")",
             "y = ops.quantized.linear(x, self._packed, 1., 0)",
             "y = ops.prim.NumToTensor(1)",
             "print(\"torch.save(x) is only a text: \\n\")",
             "# torch.save(x, \"f\") is a comment",
             "saved = torch.relu(x)",
             "save = 3",
             "packed : __torch__.torch.classes.quantized.LinearPackedParamsBase",
             "y = self.options",
         })
        EXPECT_NO_THROW(refuse_unsafe_source(method(body), "m.pt: code")) << body;
}

TEST(ScriptScan, ASourceWithoutAnEndIsRefused) {
    expect_refused([] { refuse_unsafe_source("x = \"open", "m.pt"); }, {"unterminated"});
    expect_refused([] { refuse_unsafe_source("x = \"\"\"open\"", "m.pt"); }, {"unterminated"});
    expect_refused([] { refuse_unsafe_source("x = \"open\\", "m.pt"); }, {"unterminated"});
}

TEST(ScriptScan, SourcesAreUnpackedAsPyTorchWritesThem) {
    const MappedFile file(SPECTRA_DATA_DIR "/checkpoints/script.pt");
    const ZipArchive zip(file.bytes(), "script.pt");
    const auto root = torch_root(zip, "script.pt");
    EXPECT_NO_THROW(refuse_unsafe_script(zip, root, "script.pt"));
    bool deflated = false;
    for (const auto& entry : zip.entries()) {
        if (entry.name.find("/code/") == std::string::npos || !entry.name.ends_with(".py")) continue;
        EXPECT_NE(zip.unpacked(entry, 1 << 20).find("def forward"), std::string::npos) << entry.name;
        expect_refused([&] { zip.unpacked(entry, 10); }, {"must be at most 10"});
        deflated = deflated || entry.method == 8;
        // A byte that changed is found out, whether the stream breaks or the checksum does.
        std::string damaged(as_text(file.bytes()));
        damaged[entry.header + 30 + entry.name.size() + entry.size / 2] ^= 0x10;
        const ZipArchive other(as_bytes(damaged), "script.pt");
        EXPECT_THROW(other.unpacked(*other.find(entry.name), 1 << 20), std::invalid_argument);
    }
    EXPECT_TRUE(deflated);
}

/// A zip archive of stored entries.
std::string archive(const std::vector<std::pair<std::string, std::string>>& files) {
    std::string out, directory;
    const auto put = [](std::string& to, std::uint64_t value, int bytes) {
        for (int k = 0; k < bytes; ++k) to += static_cast<char>(k < 8 ? value >> (8 * k) : 0);
    };
    for (const auto& [name, content] : files) {
        const auto at = out.size();
        std::string common;
        put(common, 0, 2 + 2 + 2 + 2 + 4);  // flags, method, time, date; no checksum
        put(common, content.size(), 4);
        put(common, content.size(), 4);
        put(common, name.size(), 2);
        put(common, 0, 2);
        out += "PK\3\4";
        put(out, 20, 2);
        out += common + name + content;
        directory += "PK\1\2";
        put(directory, 20, 2);
        put(directory, 20, 2);
        directory += common;
        put(directory, 0, 2 + 2 + 2 + 4);
        put(directory, at, 4);
        directory += name;
    }
    const auto begin = out.size();
    out += directory + "PK\5\6";
    put(out, 0, 4);
    put(out, files.size(), 2);
    put(out, files.size(), 2);
    put(out, directory.size(), 4);
    put(out, begin, 4);
    put(out, 0, 2);
    return out;
}

void scan(const std::vector<std::pair<std::string, std::string>>& files) {
    const auto bytes = archive(files);
    const ZipArchive zip(as_bytes(bytes), "m.pt");
    refuse_unsafe_script(zip, torch_root(zip, "m.pt"), "m.pt");
}

TEST(ScriptScan, AllOfAnArchiveThatPyTorchCouldReadIsScanned) {
    const std::pair<std::string, std::string> pickle{"m/data.pkl", "."}, constants{"m/constants.pkl", "."};
    const std::string bad = method("torch.save(x, \"f\")");
    EXPECT_NO_THROW(scan({pickle, constants, {"m/code/__torch__.py", method("y = x")}}));
    EXPECT_NO_THROW(scan({pickle, constants, {"m/code/a.py.debug_pkl", "torch.save(x)"}}));
    expect_refused([&] { scan({pickle, {"m/code/__torch__.py", bad}}); }, {"m.pt: 'm/code/__torch__.py'", "save"});
    // PyTorch looks names up whatever their case.
    expect_refused([&] { scan({pickle, {"m/CODE/__torch__.py", bad}}); }, {"save"});
    expect_refused([&] { scan({pickle, {"m/code/a.py", "x"}, {"m/code/A.py", "x"}}); }, {"only in case"});
    expect_refused([&] { scan({pickle, {"other/code/a.py", "x"}}); }, {"outside the folder"});
    expect_refused([&] { scan({pickle, {"m/model.json", "{}"}}); }, {"no longer supported"});
    // A class is named by two lines of a pickle.
    expect_refused([] { scan({{"m/data.pkl", "c__torch__.torch.classes.a\nB\n"}}); }, {"torch.classes.a"});
    expect_refused([] { scan({{"m/data.pkl", "c__torch__.torch\nclasses.a.B\n"}}); }, {"torch.classes.a"});
    EXPECT_NO_THROW(scan({{"m/data.pkl", "c__torch__.torch.classes.quantized\nLinearPackedParamsBase\n"}}));
}

}  // namespace
}  // namespace spectra::weightfile
