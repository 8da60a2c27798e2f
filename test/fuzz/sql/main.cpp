// sql_fuzz TARGET INPUTS SEED: random inputs for the SQL functions of the server that PGHOST names,
// compared with the model, and those of the extension also with those of the SQL edition. Input n
// consists of random bytes that follow from SEED and n. sql_fuzz TARGET FOLDER: the same for the
// inputs in the files of a folder.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "fuzz/sql/targets.hpp"

namespace snowdrift::fuzz {

std::string visible(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c >= ' ' && c <= '~' && c != '\\')
            result += c;
        else
            result += hex({c});
    }
    return result;
}

std::string shown(const Outcome& outcome) {
    if (outcome.is_error())
        return outcome.sqlstate + ": " + outcome.message + " (" + outcome.detail + ") (" +
               outcome.hint + ")";
    std::string values;
    for (const std::string& value : outcome.first()) values += visible(value) + " ";
    return values;
}

void disagree(const std::string& statement, const std::vector<Parameter>& parameters,
              const Outcome& outcome, const std::string& expected) {
    std::string what = statement;
    for (size_t i = 0; i < parameters.size(); ++i)
        what += "\n  $" + std::to_string(i + 1) + " = " +
                (parameters[i].value ? '\'' + visible(*parameters[i].value) + '\'' : "null") +
                (parameters[i].is_binary ? " (binary)" : "");
    throw Disagreement{what + "\n  expected " + expected + "\n  received " + shown(outcome)};
}

void expect(Session& session, const std::string& statement,
            const std::vector<Parameter>& parameters, const Values& values) {
    const Outcome outcome = session.run(statement, parameters);
    if (!outcome.is_error() && outcome.first() == values) return;
    std::string expected;
    for (const std::string& value : values) expected += visible(value) + " ";
    disagree(statement, parameters, outcome, expected);
}

void expect_error(Session& session, const std::string& statement,
                  const std::vector<Parameter>& parameters, const Values& sqlstates) {
    const Outcome outcome = session.run(statement, parameters);
    std::string expected = "an error of";
    for (const std::string& sqlstate : sqlstates) {
        if (outcome.sqlstate == sqlstate) return;
        expected += " " + sqlstate;
    }
    disagree(statement, parameters, outcome, expected);
}

namespace {

constexpr struct {
    std::string_view name;
    void (*check)(Session&, Input&);
    bool is_in_sql_edition;  ///< some of the functions that it calls
} targets[] = {
    {"texts", check_texts, true},          {"binary", check_binary, false},
    {"fields", check_fields, true},        {"times", check_times, true},
    {"snapshots", check_snapshots, false},
};
using Target = std::remove_extent_t<decltype(targets)>;

/// The bytes that the memory contexts of the session's server process use.
int64_t used_bytes(Session& session) {
    return std::stoll(
        session.run_alone("SELECT sum(used_bytes) FROM pg_backend_memory_contexts").first().at(0));
}

/// An input, and how to repeat it.
struct NamedInput {
    std::string name;
    std::vector<uint8_t> bytes;
};

NamedInput random_input(uint64_t seed, uint64_t n) {
    std::seed_seq seeds{seed, n};
    std::mt19937 random{seeds};
    std::vector<uint8_t> bytes(512);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return {"input " + std::to_string(n) + " of seed " + std::to_string(seed), std::move(bytes)};
}

/// Checks inputs until 10 of them have failed. Returns the number of failures. In a long run,
/// growth of memory in the second half counts as one: by then, the server has filled its caches and
/// the buffers of temporary tables.
int run(const Target& target, uint64_t inputs,
        const std::function<NamedInput(uint64_t)>& input_of) {
    Session session;
    session.run("SET client_min_messages = warning");
    session.run("CREATE EXTENSION IF NOT EXISTS snowdrift");
    session.run("SET timezone = 'UTC'");
    if (target.is_in_sql_edition)
        session.add_sql_edition("sql_edition_" + std::string{target.name});
    int failures = 0;
    int64_t used_at_half = 0;
    for (uint64_t n = 0; n < inputs && failures < 10; ++n) {
        if (n == inputs / 2) used_at_half = used_bytes(session);
        const auto [name, bytes] = input_of(n);
        Input input{bytes.data(), bytes.size()};
        if (Session* const other = session.sql_edition(); other != nullptr)
            other->run_alone(std::string{"SET plan_cache_mode = "} +
                             (n % 2 == 0 ? "force_custom_plan" : "force_generic_plan"));
        try {
            target.check(session, input);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
            ++failures;
            if (dynamic_cast<const Disagreement*>(&e) == nullptr) return failures;
        }
    }
    const int64_t grown = used_bytes(session) - used_at_half;
    if (inputs >= 10'000 && failures == 0 && grown > 16'384) {
        std::fprintf(stderr, "the session's memory has grown by %lld bytes\n",
                     static_cast<long long>(grown));
        ++failures;
    }
    return failures;
}

/// The same for the inputs in the files of a folder. No file counts as a failure.
int run_folder(const Target& target, const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator{folder})
        files.push_back(entry.path());
    if (files.empty()) return 1;
    return run(target, files.size(), [&](uint64_t n) {
        std::ifstream file{files[n], std::ios::binary};
        return NamedInput{files[n], {std::istreambuf_iterator<char>{file}, {}}};
    });
}

}  // namespace
}  // namespace snowdrift::fuzz

int main(int argc, char** argv) {
    using namespace snowdrift::fuzz;
    try {
        for (const auto& target : targets) {
            if (argc < 3 || target.name != argv[1]) continue;
            if (argc == 3) return run_folder(target, argv[2]) == 0 ? 0 : 1;
            const uint64_t seed = std::strtoull(argv[3], nullptr, 10);
            const int failures = run(target, std::strtoull(argv[2], nullptr, 10),
                                     [seed](uint64_t n) { return random_input(seed, n); });
            return failures == 0 ? 0 : 1;
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    std::fprintf(stderr, "usage: sql_fuzz TARGET INPUTS SEED | TARGET FOLDER\ntargets:");
    for (const auto& target : targets) std::fprintf(stderr, " %s", target.name.data());
    std::fprintf(stderr, "\n");
    return 2;
}
