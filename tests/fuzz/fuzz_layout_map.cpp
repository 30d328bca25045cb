#include "layouts/layout_map.hpp"

#include "target.hpp"
#include "layouts/layouts.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

using namespace spectra;

namespace {

/// A safetensors file of a few small tensors for maps to name: in blocks, in one stack, and of odd shapes.
std::string small_file() {
    nlohmann::json header;
    std::string numbers;
    const auto add = [&](const std::string& key, const std::vector<std::size_t>& shape) {
        const std::size_t begin = numbers.size();
        std::size_t count = 1;
        for (const auto size : shape) count *= size;
        for (std::size_t k = 0; k < count; ++k) {
            const float value = 0.25F * static_cast<float>(k % 7) - 0.5F;
            numbers.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        header[key] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, numbers.size()}}};
    };
    for (const char* place : {"h.0.a.", "h.0.b.", "h.1.a.", "h.1.b."}) {
        add(place + std::string("w"), {2, 2});
        add(place + std::string("v"), {9});
    }
    add("all.w", {3, 2, 2});
    add("all.f", {3, 4, 2});
    add("none", {0, 2});
    add("one", {});
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::string file(sizeof length, '\0');
    std::memcpy(file.data(), &length, sizeof length);
    return file + text + numbers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::string content = small_file();
    static const auto file = weightfile::TensorFile::from_bytes(weightfile::as_bytes(content), "input");
    fuzz::must_read_or_refuse([&] {
        layouts::LayoutOptions options;
        options.map = layouts::parse_layout_map(fuzz::text(data, size), "input");
        // More of these is work that the map asks for, and no part of reading it.
        if (options.map->options.sweeps.value_or(0) > 100 || options.map->sublayers.size() > 100) return;
        for (const auto& c : read_stack(file, options).connections)
            if (!c.mixer.allFinite() || !c.pre.allFinite() || !c.post.allFinite()) std::abort();
    });
    return 0;
}

std::string fuzz_input(const std::string& file) {
    return file;
}
