#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace snowdrift::bench {
namespace {

std::string joined(const Cells& cells) {
    std::string line = "|";
    for (const auto& cell : cells) line += " " + cell + " |";
    return line + "\n";
}

/// The width of each column, in characters.
std::vector<size_t> widths_of(const Cells& header, const std::vector<Cells>& rows) {
    std::vector<size_t> widths;
    for (size_t i = 0; i < header.size(); ++i) {
        size_t width = header[i].size();
        for (const auto& row : rows) width = std::max(width, row[i].size());
        widths.push_back(width);
    }
    return widths;
}

void print_row(const Cells& cells, const std::vector<size_t>& widths) {
    for (size_t i = 0; i < cells.size(); ++i) {
        const int width = static_cast<int>(widths[i]);
        std::printf(i == 0 ? "  %-*s" : "  %*s", width, cells[i].c_str());
    }
    std::printf("\n");
}

}  // namespace

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string shown(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.*f", digits, value);
    return text;
}

Report::Report(std::filesystem::path folder) : folder_{std::move(folder)} {
    std::filesystem::create_directories(folder_);
    std::filesystem::create_directories(raw_folder);
}

void Report::begin(const std::string& section, const std::string& title) {
    section_ = section;
    std::printf("\n%s\n\n", title.c_str());
    markdown_ += "\n## " + title + "\n\n";
}

void Report::figure(const std::string& subject, const std::string& measure, const std::string& unit,
                    double value) {
    const auto known = std::find_if(all_.begin(), all_.end(), [&](const Series& s) {
        return s.section == section_ && s.subject == subject && s.measure == measure;
    });
    if (known != all_.end())
        known->values.push_back(value);
    else
        all_.push_back({section_, subject, measure, unit, {value}});
}

bool Report::has(const std::string& section, const std::string& subject,
                 const std::string& measure) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Series& s) {
        return s.section == section && s.subject == subject && s.measure == measure;
    });
}

const Series& Report::series(const std::string& section, const std::string& subject,
                             const std::string& measure) const {
    for (const Series& s : all_)
        if (s.section == section && s.subject == subject && s.measure == measure) return s;
    throw std::logic_error{"not measured: " + section + ", " + subject + ", " + measure};
}

double Report::of(const std::string& section, const std::string& subject,
                  const std::string& measure) const {
    return median(series(section, subject, measure).values);
}

double Report::ratio(const std::string& section, const std::string& measure,
                     const std::string& subject, const std::string& base) const {
    const auto& above = series(section, subject, measure).values;
    const auto& below = series(section, base, measure).values;
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(above.size(), below.size()); ++i)
        ratios.push_back(above[i] / below[i]);
    return median(ratios);
}

void Report::table(const Cells& header, const std::vector<Cells>& rows) {
    const auto widths = widths_of(header, rows);
    print_row(header, widths);
    for (const auto& row : rows) print_row(row, widths);
    std::printf("\n");

    Cells rule(header.size(), "---:");
    rule[0] = "---";
    markdown_ += joined(header) + joined(rule);
    for (const auto& row : rows) markdown_ += joined(row);
    markdown_ += "\n";
}

void Report::note(const std::string& text) {
    std::printf("%s\n\n", text.c_str());
    markdown_ += text + "\n\n";
}

void Report::chart(const std::string& name, const std::string& title, int height,
                   const std::string& script) {
    const std::string file = name + ".svg";
    const auto path = folder_ / (name + ".gnuplot");
    std::ofstream{path} << "set terminal svg size 860," << height
                        << " font 'Helvetica,13' noenhanced background '#ffffff'\nset output '"
                        << (folder_ / file).string() << "'\nset title '" << title
                        << "' font ',16' offset 0,0.5\n"
                           "set border 3 lc '#666666'\nset tics nomirror\n"
                           "set grid ytics lc '#e4e4e4' lt 1\nset rmargin 4\n"
                        << script;
    if (std::system(("gnuplot " + path.string()).c_str()) != 0)
        throw std::runtime_error{"gnuplot failed on " + path.string()};
    std::filesystem::remove(path);
    markdown_ += "![" + title + "](" + file + ")\n\n";
}

void Report::at_most(const std::string& what, double limit, double value) {
    target(what, "at most " + shown(limit, 3), value, value <= limit);
}

void Report::at_least(const std::string& what, double limit, double value) {
    target(what, "at least " + shown(limit, 3), value, value >= limit);
}

void Report::target(const std::string& what, const std::string& limit, double value, bool met) {
    targets_.push_back({what, limit, shown(value, 3), met ? "met" : "missed"});
}

void Report::write_figures() const {
    std::ofstream file{std::filesystem::path{raw_folder} / "figures.csv"};
    file << "section,subject,measure,unit,round,value\n";
    for (const Series& s : all_)
        for (size_t round = 0; round < s.values.size(); ++round)
            file << s.section << ",\"" << s.subject << "\"," << s.measure << ',' << s.unit << ','
                 << round + 1 << ',' << s.values[round] << '\n';
    for (const Cells& target : targets_)
        file << "targets,\"" << target[0] << ", " << target[1] << "\",ratio," << target[3] << ",1,"
             << target[2] << '\n';
}

void Report::finish(const Cells& machine) {
    if (!targets_.empty()) {
        begin("targets", "Targets");
        table({"ratio", "target", "measured", "result"}, targets_);
    }
    write_figures();
    std::ofstream file{folder_ / "README.md"};
    file << "# Benchmarks\n\n`./dev bench` repeats the measurements and writes this page. Figures "
            "are medians of alternating runs; ratios are medians of the ratios of paired runs. A "
            "run "
            "writes all figures to `"
         << raw_folder << "/figures.csv`.\n\n";
    for (const auto& line : machine) file << "- " << line << "\n";
    file << markdown_;
}

}  // namespace snowdrift::bench
