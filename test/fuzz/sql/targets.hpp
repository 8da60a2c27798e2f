// The targets of sql_fuzz, and what they share. A target checks one input. It throws Disagreement
// if the server and the model disagree.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/model.hpp"
#include "fuzz/sql/session.hpp"

namespace snowdrift::fuzz {

using model::Bits;

struct Disagreement : std::runtime_error {
    using runtime_error::runtime_error;
};

using Values = std::vector<std::string>;

/// The text, with backslashes and all bytes other than printable ASCII in hexadecimal.
std::string visible(const std::string& text);

/// The values of the first row, or the error, for a message.
std::string shown(const Outcome& outcome);

/// Expects that a statement returns these values in one row.
void expect(Session& session, const std::string& statement,
            const std::vector<Parameter>& parameters, const Values& values);

/// Expects that a statement raises an error with one of these SQLSTATEs.
void expect_error(Session& session, const std::string& statement,
                  const std::vector<Parameter>& parameters, const Values& sqlstates);

/// Expects the same of the extension's statement and of another one in the SQL edition, if it has
/// been added.
void expect_same(Session& session, const std::string& statement, const std::string& in_sql_edition,
                 const std::vector<Parameter>& parameters);

/// Throws a Disagreement about a statement.
[[noreturn]] void disagree(const std::string& statement, const std::vector<Parameter>& parameters,
                           const Outcome& outcome, const std::string& expected);

/// The bytes that the digits of a number of whole bytes denote.
inline std::string bytes_of(const Bits& bits) {
    std::string bytes;
    for (size_t i = 0; i < bits.size(); i += 8)
        bytes += static_cast<char>(model::field(bits, i, 8));
    return bytes;
}

/// The text form of a bytea.
inline std::string hex(const std::string& bytes) {
    std::string text = "\\x";
    for (const char byte : bytes)
        for (const int digit : {static_cast<uint8_t>(byte) / 16, static_cast<uint8_t>(byte) % 16})
            text += "0123456789abcdef"[digit];
    return text;
}

// The targets.
void check_texts(Session& session, Input& input);
void check_binary(Session& session, Input& input);
void check_fields(Session& session, Input& input);
void check_times(Session& session, Input& input);
void check_snapshots(Session& session, Input& input);

}  // namespace snowdrift::fuzz
