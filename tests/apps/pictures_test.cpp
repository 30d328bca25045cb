#include "h5/file.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

/// The pictures of the documentation are what their commands draw: docs/images/pictures.tsv has the commands,
/// data/pictures.json the numbers. With SPECTRA_UPDATE_PICTURES set to the folder that scripts/gallery.sh has just
/// filled, the tests write the numbers instead of comparing.
namespace spectra {
namespace {

using Numbers = std::map<std::string, double>;

const std::filesystem::path root = std::filesystem::path(SPECTRA_DATA_DIR).parent_path();
const std::filesystem::path stored_numbers = root / "data" / "pictures.json";

struct Picture {
    std::string name, command, smaller;
};

std::vector<Picture> pictures() {
    std::ifstream in(root / "docs" / "images" / "pictures.tsv");
    std::vector<Picture> all;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream fields(line);
        Picture picture;
        std::getline(fields, picture.name, '\t');
        std::getline(fields, picture.command, '\t');
        std::getline(fields, picture.smaller, '\t');
        all.push_back(std::move(picture));
    }
    return all;
}

nlohmann::json stored() {
    std::ifstream in(stored_numbers);
    return in ? nlohmann::json::parse(in) : nlohmann::json::object();
}

/// Finite mean, so that a point that is left out does not hide the others.
double mean(const std::vector<double>& values) {
    double sum = 0;
    int count = 0;
    for (const double value : values)
        if (std::isfinite(value)) sum += value, ++count;
    return count > 0 ? sum / count : 0;
}

void add_metrics(Numbers& numbers, const h5::File& file, const std::string& run) {
    for (const auto& source : file.children(run + "metrics"))
        for (const char* name : {"mean_square", "window", "collapsed", "largest"})
            if (const auto value = file.double_attribute(run + "metrics/" + source, name))
                numbers[run + source + "/" + name] = *value;
}

/// The numbers of a picture: the mean height of every curve, or the metrics of every network.
Numbers numbers_of(const std::filesystem::path& path) {
    const auto file = h5::File::open_read(path);
    Numbers numbers;
    if (file.is_group("metrics")) add_metrics(numbers, file, "");
    if (file.is_group("runs"))
        for (const auto& run : file.children("runs")) add_metrics(numbers, file, "runs/" + run + "/");
    if (!file.is_group("figure")) return numbers;
    for (const auto& panel : file.children("figure")) {
        // The sums of bistochastic mixers differ from 1 by rounding, which no other machine repeats.
        if (file.string_attribute("figure/" + panel, "y_label").value_or("").find("|sum − 1|") != std::string::npos)
            continue;
        for (const auto& series : file.children("figure/" + panel)) {
            if (series == "equation") continue;  // as printed: rounding decides where it has a solution
            for (const char* name : {"y", "lower", "value"}) {
                const std::string place = "figure/" + panel + "/" + series + "/" + name;
                h5::Shape shape;
                if (file.is_dataset(place)) numbers[place] = mean(file.read_doubles(place, shape));
            }
        }
    }
    return numbers;
}

/// Runs "spectra COMMAND" without drawing, and reads what it wrote.
Numbers computed(const std::string& command) {
    const testing::TemporaryFolder folder;
    std::vector<std::string> words{SPECTRA_BINARY};
    std::istringstream in(command);
    for (std::string word; in >> word;) words.push_back(word);
    words.insert(words.end(), {"--plot", "none", "--out", "picture", "--quiet"});
    if (words[1] == "compare") words.insert(words.end(), {"--table", "none"});
    testing::ProcessOptions options;
    options.folder = folder.path();
    const auto result = testing::run_process(words, options);
    EXPECT_EQ(result.status, 0) << command << "\n" << result.err;
    return result.status == 0 ? numbers_of(folder.path() / "picture.h5") : Numbers{};
}

/// Compares with what is stored, or stores it.
void expect_stored(const std::string& name, const std::string& kind, const Numbers& numbers) {
    ASSERT_FALSE(numbers.empty()) << name;
    auto all = stored();
    if (std::getenv("SPECTRA_UPDATE_PICTURES") != nullptr) {
        all[name][kind] = numbers;
        std::ofstream(stored_numbers) << all.dump(1) << "\n";
        return;
    }
    const auto expected = all.value(name, nlohmann::json::object()).value(kind, Numbers{});
    EXPECT_EQ(expected.size(), numbers.size()) << name << ": other curves than before";
    for (const auto& [place, value] : numbers) {
        ASSERT_TRUE(expected.contains(place)) << name << ": " << place;
        const double before = expected.at(place);
        EXPECT_NEAR(value, before, 2e-5 * std::max(1e-3, std::abs(before))) << name << ": " << place;
    }
}

TEST(Pictures, OfTheDocumentationAreInTheTable) {
    std::set<std::string> listed;
    for (const auto& picture : pictures()) EXPECT_TRUE(listed.insert(picture.name).second) << picture.name;
    std::set<std::string> present;
    for (const auto& entry : std::filesystem::directory_iterator(root / "docs" / "images"))
        if (entry.path().extension() == ".png") {
            present.insert(entry.path().stem().string());
            EXPECT_LT(entry.file_size(), 110'000u) << entry.path();
        }
    EXPECT_EQ(listed, present);
    std::set<std::string> shown;
    const std::regex link(R"(images/([A-Za-z0-9-]+)\.png)");
    std::vector<std::filesystem::path> pages{root / "README.md"};
    for (const auto& entry : std::filesystem::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    for (const auto& page : pages) {
        const std::string text = testing::content(page);
        for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it)
            shown.insert((*it)[1].str());
    }
    EXPECT_EQ(shown, listed);
}

TEST(Pictures, CommandsOfTheGalleryAreThoseOfTheTable) {
    const std::string page = testing::content(root / "docs" / "gallery.md");
    for (const auto& picture : pictures()) {
        if (!picture.name.starts_with("gallery-")) continue;
        const auto second = picture.command.find("&& ");
        const std::string last =
            second == std::string::npos ? picture.command : picture.command.substr(second + 3);
        EXPECT_NE(page.find("    spectra " + last + "\n"), std::string::npos) << picture.name << ": " << last;
    }
}

class SmallPicture : public ::testing::TestWithParam<std::string> {};

TEST_P(SmallPicture, HasItsNumbers) {
    for (const auto& picture : pictures())
        if (picture.name == GetParam())
            expect_stored(picture.name, "smaller", computed(picture.smaller));
}

std::vector<std::string> names_of_small() {
    std::vector<std::string> names;
    for (const auto& picture : pictures())
        if (picture.smaller != "-") names.push_back(picture.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Pictures, SmallPicture, ::testing::ValuesIn(names_of_small()),
                         [](const auto& each) { return std::regex_replace(each.param, std::regex("-"), "_"); });

/// The commands as they are documented, minutes long: ctest -C Full -L full. Times and trained models have no numbers
/// that another machine repeats.
TEST(Pictures, DISABLED_HaveTheirNumbers) {
    const char* const drawn = std::getenv("SPECTRA_UPDATE_PICTURES");
    for (const auto& picture : pictures()) {
        SCOPED_TRACE(picture.name);
        if (picture.smaller == "-") continue;
        expect_stored(picture.name, "whole",
                      drawn != nullptr ? numbers_of(std::filesystem::path(drawn) / (picture.name + ".h5"))
                                       : computed(picture.command));
    }
}

}  // namespace
}  // namespace spectra
