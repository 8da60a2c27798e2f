// The benchmark of the running server that PGHOST names. ./dev bench runs it.
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "bench.hpp"

namespace snowdrift::bench {

pqxx::result run(pqxx::connection& connection, const std::string& statement) {
    pqxx::nontransaction transaction{connection};
    return transaction.exec(statement);
}

double number(pqxx::connection& connection, const std::string& statement) {
    return run(connection, statement)[0][0].as<double>();
}

std::string text(pqxx::connection& connection, const std::string& statement) {
    return run(connection, statement)[0][0].as<std::string>();
}

double ms_of(pqxx::connection& connection, const std::string& statement) {
    const auto begin = std::chrono::steady_clock::now();
    run(connection, statement);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - begin;
    return elapsed.count();
}

bool has_uuidv7(pqxx::connection& connection) {
    return text(connection, "SELECT to_regprocedure('uuidv7()') IS NOT NULL") == "t";
}

void progress(const std::string& what) {
    static const bool is_terminal = isatty(STDERR_FILENO) != 0;
    if (is_terminal)
        std::fprintf(stderr, "\r\033[K%s", what.c_str());
    else if (!what.empty())
        std::fprintf(stderr, "... %s\n", what.c_str());
}

std::string shell(const std::string& command) {
    std::string output;
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error{"cannot run " + command};
    char chunk[4096];
    while (const size_t size = std::fread(chunk, 1, sizeof(chunk), pipe))
        output.append(chunk, size);
    if (pclose(pipe) != 0) throw std::runtime_error{"failed: " + command};
    return output;
}

void raise_file_limit() {
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

std::string filled(std::string template_text, const std::string& with) {
    for (size_t at = template_text.find('%'); at != std::string::npos;
         at = template_text.find('%', at + with.size()))
        template_text.replace(at, 1, with);
    return template_text;
}

namespace {

/// The value of `key` in a file of lines "key: value"; "unknown" if there is none.
std::string line_of(const char* path, const std::string& key) {
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key))
            return line.substr(line.find_first_not_of(" \t", line.find(':') + 1));
    return "unknown";
}

/// Describes the machine, the server and its settings.
Cells machine(pqxx::connection& connection, const Options& options) {
    utsname system;
    uname(&system);
    const double kib = std::atof(line_of("/proc/meminfo", "MemTotal").c_str());
    std::string settings;
    for (const auto& row :
         run(connection,
             "SELECT name || ' = ' || current_setting(name) FROM pg_settings WHERE name IN "
             "('fsync', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'autovacuum', 'jit', "
             "'synchronous_commit', 'wal_level') ORDER BY name"))
        settings += (settings.empty() ? "" : ", ") + row[0].as<std::string>();
    std::string peers;
    for (const Peer& peer : options.peers) peers += (peers.empty() ? "" : ", ") + peer.version;
    if (peers.empty()) peers = "none";
    return {line_of("/proc/cpuinfo", "model name") + ", " +
                std::to_string(std::thread::hardware_concurrency()) + " cores, " +
                shown(kib / 1024 / 1024, 0) + " GiB of memory",
            std::string{system.sysname} + " " + system.release + " " + system.machine,
            text(connection, "SELECT version()"),
            "A dedicated server: " + settings +
                ". Since fsync is off, except where a section says otherwise, the figures compare "
                "processor time and WAL, not this machine's disk. No checkpoint runs during a "
                "measurement.",
            "Other extensions: " + peers,
            options.quick ? "A quick run: small tables and few rounds." : "A full run."};
}

struct Section {
    const char* name;
    void (*measure)(Report&, const Options&);
};

constexpr Section all_sections[] = {
    {"cost", cost},
    {"sessions", sessions},
    {"isolated", isolated},
    {"insert", insert},
    {"types", types},
    {"time_range", time_range},
    {"growth", growth},
    {"watermark", watermarks},
    {"watched", watched},
    {"seals", seals},
    {"sql_edition", sql_edition},
    {"core", core},
};

int usage() {
    std::fprintf(stderr, "usage: ./dev bench [--quick] [SECTION...]\nsections:");
    for (const Section& section : all_sections) std::fprintf(stderr, " %s", section.name);
    std::fprintf(stderr, "\n");
    return 2;
}

int measure(const std::vector<std::string>& names, Options options) {
    std::vector<Section> wanted;
    for (const auto& name : names) {
        const auto* const found =
            std::find_if(std::begin(all_sections), std::end(all_sections),
                         [&](const Section& section) { return name == section.name; });
        if (found == std::end(all_sections)) return usage();
        wanted.push_back(*found);
    }
    const bool complete = wanted.empty();
    if (complete) wanted.assign(std::begin(all_sections), std::end(all_sections));

    // Only a full run of all sections updates the documentation.
    const std::string folder = complete && !options.quick ? "docs/benchmarks" : raw_folder;
    Report report{folder};
    pqxx::connection connection;
    options.peers = create_peers(connection);
    const Cells about = machine(connection, options);
    for (const auto& line : about) std::printf("%s\n", line.c_str());
    for (const Section& section : wanted) {
        section.measure(report, options);
        progress("");
    }
    report.finish(about);
    std::printf("Tables and charts are in %s, all figures in %s/figures.csv.\n", folder.c_str(),
                raw_folder);
    return 0;
}

}  // namespace
}  // namespace snowdrift::bench

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    snowdrift::bench::Options options;
    std::vector<std::string> names;
    for (const auto& argument : std::vector<std::string>(argv + 1, argv + argc)) {
        if (argument == "--quick")
            options.quick = true;
        else
            names.push_back(argument);
    }
    try {
        return snowdrift::bench::measure(names, options);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "\n%s\n", e.what());
        return 1;
    }
}
