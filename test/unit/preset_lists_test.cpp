// The other lists of presets: those of the SQL edition, of the fuzz targets' model and of
// docs/layouts.md have the presets of snowflake_presets.hpp. snowflake_layout_test.cpp has the
// values that the services publish.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/layout_model.hpp"
#include "unit/snowflake_layout_helpers.hpp"

namespace snowdrift {
namespace {

/// What the groups of the pattern match, for each line of a source file that contains a match.
std::vector<std::vector<std::string>> find_lines(const std::string& name, const char* pattern) {
    const std::string path = std::string{SNOWDRIFT_SOURCE} + "/" + name;
    std::ifstream file{path};
    EXPECT_TRUE(file) << "cannot read " << path;
    const std::regex regex{pattern};
    std::vector<std::vector<std::string>> found;
    for (std::string line; std::getline(file, line);) {
        std::smatch match;
        if (std::regex_search(line, match, regex))
            found.emplace_back(match.begin() + 1, match.end());
    }
    return found;
}

std::set<std::string_view> preset_names() {
    std::set<std::string_view> names;
    for (const LayoutPreset& preset : layout_presets) names.insert(preset.name);
    return names;
}

TEST(PresetLists, OfTheSqlEditionHaveTheExtensionsPresets) {
    const std::string path = "sql-edition/snowdrift.sql";
    const auto rows = find_lines(path, "WHEN '(\\w+)' THEN '(epoch=[^']*)'");
    ASSERT_EQ(rows.size(), std::size(layout_presets));
    std::string names;
    for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i][0], layout_presets[i].name);
        EXPECT_EQ(parse(rows[i][1]), layout_presets[i].layout) << rows[i][0];
        names += (i == 0 ? "" : ", ") + rows[i][0];
    }
    const std::vector<std::vector<std::string>> hints{{names}};
    EXPECT_EQ(find_lines(path, "Valid presets are ([^.]*)[.]"), hints);
}

TEST(PresetLists, OfTheModelHasTheLibrarysPresets) {
    std::set<std::string_view> names;
    for (const auto& [name, fields] : model::presets()) {
        EXPECT_EQ(parse(name), parse(fields)) << name;
        names.insert(name);
    }
    EXPECT_EQ(names, preset_names());
}

TEST(PresetLists, OfThePageHasTheLibrarysPresets) {
    const auto rows = find_lines("docs/layouts.md", "^\\| `(\\w+)`[^|]* \\| (\\d[\\d.:TZ-]*) \\|");
    std::set<std::string_view> names;
    for (const auto& row : rows) {
        EXPECT_EQ(parse(row[0]).epoch_unix_ms, model::parse_utc(row[1])) << row[0];
        names.insert(row[0]);
    }
    EXPECT_EQ(names, preset_names());
}

}  // namespace
}  // namespace snowdrift
