// The core in isolation: time and instructions of codecs and generators.
#include "bench.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core_operations.hpp"

namespace snowdrift::bench {
namespace {

/// Runs Google Benchmark and reads its CSV, which has a line per repetition of each operation.
void measure_time(Report& report, const Options& options) {
    progress("codecs and generators");
    std::istringstream lines{
        shell(std::string{SNOWDRIFT_CORE_TIME} +
              " --benchmark_format=csv --benchmark_enable_random_interleaving=true"
              " --benchmark_repetitions=" +
              std::to_string(options.rounds(15, 5)) +
              " --benchmark_min_time=" + (options.quick ? "0.02" : "0.2") + " 2>/dev/null")};
    std::string line;
    while (std::getline(lines, line)) {
        for_each_operation([&](const Operation& operation) {
            const std::string start = "\"" + std::string{operation.name} + "\",";
            if (!line.starts_with(start)) return;
            double iterations;
            double ns;
            char comma;
            std::istringstream{line.substr(start.size())} >> iterations >> comma >> ns;
            report.figure(operation.name, "time", "ns", ns / static_cast<double>(count));
        });
    }
}

/// Runs callgrind and reads its dumps. Returns false without valgrind.
bool measure_instructions(Report& report) {
    if (*SNOWDRIFT_CORE_INSTRUCTIONS == '\0') return false;
    progress("instructions");
    const auto folder = std::filesystem::path{shell("mktemp -d | tr -d '\\n'")};
    shell("valgrind --tool=callgrind --callgrind-out-file=" + (folder / "dump").string() + " " +
          SNOWDRIFT_CORE_INSTRUCTIONS + " >/dev/null 2>&1");
    const std::string trigger = "desc: Trigger: Client Request: ";
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        std::ifstream dump{entry.path()};
        std::string name;
        for (std::string line; std::getline(dump, line);) {
            if (line.starts_with(trigger)) name = line.substr(trigger.size());
            if (line.starts_with("totals: ") && !name.empty())
                report.figure(name, "instructions", "1",
                              std::stod(line.substr(8)) / static_cast<double>(count));
        }
    }
    std::filesystem::remove_all(folder);
    return true;
}

}  // namespace

void core(Report& report, const Options& options) {
    report.begin("core", "The core by itself");
    measure_time(report, options);
    const bool counted = measure_instructions(report);
    progress("");
    const auto instructions = [&](const char* name) {
        return counted ? shown(report.of("core", name, "instructions"), 1) : std::string{"-"};
    };

    const auto ns = [&](const char* name) { return shown(report.of("core", name, "time"), 1); };
    const auto faster_than_plain = [&](const char* ours) {
        return shown(report.ratio("core", "time", ours + std::string{", plain"}, ours), 2);
    };
    report.meaning(
        "C++ programs can use the library without a server. Drawing an ID with "
        "`SnowflakeGenerator` takes " +
        ns("SnowflakeGenerator") + " ns; reading the clock alone takes " + ns("reading the clock") +
        " ns. Encoding a ULID as text is " + faster_than_plain("encode ulid") +
        " times as fast as with a plain loop, and decoding it " + faster_than_plain("decode ulid") +
        " times.");

    std::vector<Cells> rows;
    for (const auto& [ours, plain] : codec_pairs) {
        const double faster = report.ratio("core", "time", plain.name, ours.name);
        rows.push_back({ours.name, shown(report.of("core", ours.name, "time"), 2),
                        shown(report.of("core", plain.name, "time"), 2), shown(faster, 2),
                        instructions(ours.name), instructions(plain.name)});
        report.at_least(std::string{ours.name} + ", speed to the plain loop", 2.0, faster);
    }
    report.table({"codec", "ns", "plain loop, ns", "times as fast", "instructions",
                  "plain loop, instructions"},
                 rows);
    report.note("The plain loop handles one character at a time, through a table.");
    rows.clear();
    for (const Operation& step : generator_steps)
        rows.push_back(
            {step.name, shown(report.of("core", step.name, "time"), 2), instructions(step.name)});
    report.table({"generator, without reading the clock", "ns", "instructions"}, rows);
    rows.clear();
    for (const Operation& generator : program_generators)
        rows.push_back({generator.name, shown(report.of("core", generator.name, "time"), 2),
                        instructions(generator.name)});
    report.table({"generator for C++ programs", "ns", "instructions"}, rows);
    report.note(
        "One thread draws the IDs, and their sequence never runs out. All read the clock, and all "
        "but Boost's are thread-safe. Boost is measured if version 1.86 or later is installed.");
    report.note(std::string{"Compiled by "} + SNOWDRIFT_COMPILER +
                (counted ? "; instructions counted by callgrind."
                         : "; without valgrind, instructions are not counted."));
}

}  // namespace snowdrift::bench
