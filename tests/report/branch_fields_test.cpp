#include "report/branch_fields.hpp"

#include "h5/file.hpp"
#include "report/example_report.hpp"
#include "report/json.hpp"
#include "report/result_file.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace spectra::report {
namespace {

using nlohmann::json;
using List = std::vector<double>;

const std::vector<std::string> optional_fields{"sigma_w2", "preactivation_variance", "pre",
                                               "post",     "branch_singular_values", "weights"};

/// A branch of a network of two layers and four streams, as the result file and as JSON hold it.
class BranchOutput : public ::testing::Test {
protected:
    void write(const Branch& branch) {
        Report report;
        report.network = tests::example_network(2);
        report.network.branch = branch;
        check(report.network);
        const auto path = folder_.path() / "b.h5";
        write_result_file(report, path);
        file_ = std::make_unique<h5::File>(h5::File::open_read(path));
        object_ = json::parse(to_json(report))["network"];
        page_ = describe_result_file(path);
    }

    /// The field in both, of that shape and those values; NaN where rows are short.
    void expect_field(const std::string& name, const h5::Shape& shape, const List& values) const {
        SCOPED_TRACE(name);
        ASSERT_TRUE(file_->is_dataset("network/" + name));
        h5::Shape found_shape;
        const auto found = file_->read_doubles("network/" + name, found_shape);
        EXPECT_EQ(found_shape, shape);
        ASSERT_EQ(found.size(), values.size());
        List finite;
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (std::isnan(values[k])) {
                EXPECT_TRUE(std::isnan(found[k]));
            } else {
                EXPECT_EQ(found[k], values[k]);
                finite.push_back(values[k]);
            }
        }
        List printed;
        for (const auto& row : object_.at(name)) {
            if (row.is_array())
                for (const auto& entry : row) printed.push_back(entry.get<double>());
            else
                printed.push_back(row.get<double>());
        }
        EXPECT_EQ(printed, finite);
    }

    void expect_only(const std::vector<std::string>& names) const {
        for (const auto& field : optional_fields) {
            const bool expected = std::find(names.begin(), names.end(), field) != names.end();
            EXPECT_EQ(file_->exists("network/" + field), expected) << field;
            EXPECT_EQ(object_.contains(field), expected) << field;
        }
    }

    void expect_names(const std::string& branch, const std::string& activation) const {
        EXPECT_EQ(file_->string_attribute("network", "branch"), branch);
        EXPECT_EQ(file_->string_attribute("network", "activation"), activation);
        EXPECT_EQ(object_["branch"], branch);
        EXPECT_EQ(object_["activation"], activation);
    }

    testing::TemporaryFolder folder_;
    std::unique_ptr<h5::File> file_;
    json object_;
    std::string page_;
};

TEST_F(BranchOutput, Isotropic) {
    write(IsotropicBranch{{0.1, 0.2}});
    expect_names("isotropic", "none");
    expect_field("sigma2", {2}, {0.1, 0.2});
    expect_only({});
}

TEST_F(BranchOutput, OfGivenSingularValues) {
    write(IsotropicBranch{{}, {{3, 4}}});
    expect_names("isotropic", "none");
    expect_field("sigma2", {2}, {12.5, 12.5});
    expect_field("branch_singular_values", {1, 2}, {3, 4});
    expect_only({"branch_singular_values"});
    EXPECT_NE(page_.find("isotropic of given singular values, total noise 25"), std::string::npos) << page_;

    write(IsotropicBranch{{}, {{3, 4, 0}, {1}}});
    expect_field("branch_singular_values", {2, 3}, {3, 4, 0, 1, std::nan(""), std::nan("")});
}

TEST_F(BranchOutput, Activation) {
    const Activation erf = activation_from_name("erf");
    write(ActivationBranch{{1, 2}, erf, {0.5, 3}});
    expect_names("activation", "erf");
    expect_field("sigma_w2", {2}, {1, 2});
    expect_field("sigma2", {2}, {mean_derivative2(erf, 0.5), 2 * mean_derivative2(erf, 3)});
    expect_field("preactivation_variance", {2}, {0.5, 3});
    expect_only({"sigma_w2", "preactivation_variance"});
    EXPECT_FALSE(object_.contains("activation_probability"));
    EXPECT_NE(page_.find("activation erf, total noise"), std::string::npos) << page_;

    write(ActivationBranch{{1, 2}, {ActivationKind::bernoulli, 0.25}});
    expect_names("activation", "bernoulli");
    expect_only({"sigma_w2"});
    EXPECT_EQ(object_["activation_probability"], 0.25);
    EXPECT_EQ(file_->double_attribute("network", "activation_probability"), 0.25);
}

TEST_F(BranchOutput, HyperConnection) {
    const Eigen::Vector4d a(1, 2, 3, 4), b(5, 6, 7, 8), c(-1, 0, 1, 2), d(9, 8, 7, 6);
    write(HyperConnectionBranch{{0.1, 0.2}, {a, b}, {c, d}});
    expect_names("hyper-connection", "none");
    expect_field("pre", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    expect_field("post", {2, 4}, {-1, 0, 1, 2, 9, 8, 7, 6});
    expect_field("sigma2", {2}, {0.1, 0.2});
    expect_only({"pre", "post"});

    write(HyperConnectionBranch{{}, {a, b}, {c, d}, {{2}}});
    expect_only({"pre", "post", "branch_singular_values"});
    expect_field("sigma2", {2}, {4, 4});
}

TEST_F(BranchOutput, Tied) {
    write(tied_branch(2, 0.3));
    expect_names("tied", "none");
    expect_field("sigma2", {2}, {0.3, 0.3});
    expect_only({});

    const Eigen::Vector4d a(1, 2, 3, 4), c(-1, 0, 1, 2);
    write(tied_branch(2, 0.3, a, c));
    expect_names("tied", "none");
    expect_field("pre", {2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
    expect_field("post", {2, 4}, {-1, 0, 1, 2, -1, 0, 1, 2});
    expect_only({"pre", "post"});
    EXPECT_NE(page_.find("tied hyper-connection"), std::string::npos) << page_;

    write(TiedBranch{{0.3, 0.1}, {}, {}, {4, 4}});
    expect_field("sigma2", {2}, {0.3, 0.1});
    expect_only({});
    write(TiedBranch{{0.3, 0.1}, {a, c}, {c, a}, {1, 0}});
    expect_field("pre", {2, 4}, {1, 2, 3, 4, -1, 0, 1, 2});
    expect_field("weights", {2}, {1, 0});
    expect_only({"pre", "post", "weights"});
}

}  // namespace
}  // namespace spectra::report
