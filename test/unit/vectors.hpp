// Reads the golden vectors of test/vectors: tab-separated rows. Lines that begin with '#' are
// headers or notes. test/vectors/README.md describes the columns.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace snowdrift::test {

/// The rows of a file of test/vectors, each of exactly `columns` fields. A file that can't be read
/// and a row of another width fail the test.
inline std::vector<std::vector<std::string>> read_vectors(const std::string& name, size_t columns) {
    const std::string path = std::string{SNOWDRIFT_VECTORS} + "/" + name;
    std::ifstream file{path};
    EXPECT_TRUE(file) << "cannot read " << path;

    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::vector<std::string> row;
        std::istringstream fields{line};
        for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
        EXPECT_EQ(row.size(), columns) << path << ": " << line;
        if (row.size() == columns) rows.push_back(row);
    }
    return rows;
}

/// The `size` bytes of the hexadecimal text `hex`. A text of another length fails the test.
template <size_t size>
std::array<uint8_t, size> bytes_from_hex(const std::string& hex) {
    EXPECT_EQ(hex.size(), 2 * size) << hex;
    std::array<uint8_t, size> bytes{};
    for (size_t i = 0; i < size && 2 * i < hex.size(); ++i)
        bytes[i] = static_cast<uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
    return bytes;
}

/// The hexadecimal text of bytes.
inline std::string hex_of(std::span<const uint8_t> bytes) {
    std::string hex;
    for (const uint8_t byte : bytes) {
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
    }
    return hex;
}

/// The bytes of the text of a UUID.
inline std::array<uint8_t, 16> uuid_from_text(std::string text) {
    std::erase(text, '-');
    return bytes_from_hex<16>(text);
}

}  // namespace snowdrift::test
