#include "weightfile/model_folder.hpp"

#include "target.hpp"
#include "weightfile/value.hpp"

using namespace spectra;

namespace {

void must_stay_in_the_folder(const weightfile::ShardIndex& index) {
    for (const auto& name : index.files)
        if (name.empty() || name == "." || name == ".." || name.find_first_of("/\\") != std::string::npos)
            std::abort();
    for (const auto& [key, file] : index.places)
        if (file >= index.files.size()) std::abort();
}

}  // namespace

/// The same bytes as an index and as a config.json.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text(data, size);
    fuzz::must_read_or_refuse([&] { must_stay_in_the_folder(weightfile::parse_shard_index(text, "input")); });
    fuzz::must_read_or_refuse([&] {
        weightfile::Objects objects;
        objects.all.emplace_back(weightfile::Dict{});
        weightfile::add_config(objects, text, "input");
        const weightfile::Value top(objects, objects.root);
        if (!top.find("config") || top.find("config")->kind() != weightfile::Value::Kind::dict) std::abort();
    });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
