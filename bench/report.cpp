#include "report.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "statistics.hpp"

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

void print_table(const Cells& header, const std::vector<Cells>& rows) {
    const auto widths = widths_of(header, rows);
    print_row(header, widths);
    for (const auto& row : rows) print_row(row, widths);
    std::printf("\n");
}

std::string markdown_of(const Cells& header, const std::vector<Cells>& rows) {
    Cells rule(header.size(), "---:");
    rule[0] = "---";
    std::string table = joined(header) + joined(rule);
    for (const auto& row : rows) table += joined(row);
    return table + "\n";
}

/// GitHub needs the empty lines to render Markdown inside.
std::string folded(const std::string& summary, const std::string& markdown) {
    return "<details><summary>" + summary + "</summary>\n\n" + markdown + "</details>\n";
}

/// The anchor that GitHub gives to a heading.
std::string anchor_of(const std::string& title) {
    std::string anchor = "#";
    for (const unsigned char c : title) {
        if (c == ' ')
            anchor += '-';
        else if (std::isalnum(c) || c == '-' || c == '_')
            anchor += static_cast<char>(std::tolower(c));
    }
    return anchor;
}

const Cells target_columns = {"ratio", "target", "measured", "result"};

}  // namespace

std::string shown(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.*f", digits, value);
    return text;
}

std::string line_style(bool ours, size_t line) {
    // Filled shapes for Snowdrift, open shapes and crosses for the others.
    static constexpr int points[][2] = {{5, 4},   {7, 6},  {9, 8},  {13, 12},
                                        {11, 10}, {15, 1}, {15, 2}, {15, 3}};
    return "with linespoints lw 2 ps 0.9 pt " +
           std::to_string(points[line % std::size(points)][ours ? 0 : 1]) + " lc '" +
           (ours ? our_color : other_color) + "'";
}

Report::Report(std::filesystem::path folder) : folder_{std::move(folder)} {
    std::filesystem::create_directories(folder_);
    std::filesystem::create_directories(raw_folder);
}

void Report::begin(const std::string& section, const std::string& title) {
    section_ = section;
    std::printf("\n%s\n\n", title.c_str());
    sections_.push_back({title, "", ""});
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

double Report::mean(const std::string& section, const std::string& subject,
                    const std::string& measure) const {
    const auto& values = series(section, subject, measure).values;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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
    print_table(header, rows);
    sections_.back().details += markdown_of(header, rows);
}

void Report::note(const std::string& text) {
    std::printf("%s\n\n", text.c_str());
    sections_.back().details += text + "\n\n";
}

void Report::meaning(const std::string& text) {
    std::printf("%s\n\n", text.c_str());
    sections_.back().meaning = text + "\n\n";
}

void Report::chart(const std::string& name, const std::string& title, const std::string& meaning,
                   int height, const std::string& script) {
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
    std::printf("%s\n\n", meaning.c_str());
    charts_ += "\n![" + title + "](" + file + ")\n\n" + meaning + " [Measurements](" +
               anchor_of(sections_.back().title) + ")\n";
}

void Report::bars(const std::string& name, const std::string& title, const std::string& meaning,
                  const Cells& series, const std::vector<Bars>& groups, int digits) {
    // The colors of the first and the second bar of a group: for Snowdrift, and for all others.
    static constexpr const char* colors[][2] = {{our_color, other_color}, {"#a9cbdc", "#d0d0d0"}};
    const double height = 0.8 / static_cast<double>(series.size());
    std::string tics;
    std::string data;
    double most = 0;
    for (size_t group = 0; group < groups.size(); ++group) {
        const Bars& bars = groups[group];
        tics += (group == 0 ? "" : ", ") + ("\"" + bars.label + "\" ") + std::to_string(group);
        for (size_t i = 0; i < bars.values.size(); ++i) {
            const double top = static_cast<double>(group) - 0.4 + height * static_cast<double>(i);
            const double value = bars.values[i];
            most = std::max(most, value);
            data += shown(value, digits) + " " + shown(top, 3) + " " + shown(top + height, 3) +
                    " 0x" + (colors[i][bars.ours ? 0 : 1] + 1) + "\n";
        }
    }
    std::string keys;
    for (size_t i = 0; series.size() > 1 && i < series.size(); ++i)
        keys += std::string{", keyentry with boxes fs solid lc '"} + colors[i][0] + "' title '" +
                series[i] + "'";
    const auto rows = static_cast<int>(groups.size());
    const bool has_keys = series.size() > 1;
    // The offset centers the title above labels and bars.
    chart(name, title, meaning, has_keys ? 150 + rows * 40 : 100 + rows * 26,
          std::string{has_keys ? "set key bmargin center horizontal\n" : "unset key\n"} +
              "set title offset -14,0.5\nset lmargin 30\nset style fill solid noborder\n"
              "set xrange [0:" +
              shown(most * 1.12, 3) + "]\nset yrange [" + std::to_string(rows) +
              "-0.4:-0.6]\nset ytics scale 0 (" + tics +
              ")\nunset grid\nset grid xtics lc '#e4e4e4' lt 1\n$data << E\n" + data +
              "E\nplot $data using 1:2:(0):1:2:3:4 with boxxyerror lc rgb variable notitle, "
              "'' using 1:(($2+$3)/2):1 with labels left offset 0.5,0 font ',11' notitle" +
              keys + "\n");
}

void Report::at_most(const std::string& what, double limit, double value) {
    target(what, "at most " + shown(limit, 3), value, value <= limit);
}

void Report::at_least(const std::string& what, double limit, double value) {
    target(what, "at least " + shown(limit, 3), value, value >= limit);
}

void Report::limitation(const std::string& text) { limitations_ += "- " + text + "\n"; }

void Report::target(const std::string& what, const std::string& limit, double value, bool met) {
    targets_.push_back({what, limit, shown(value, 3), met ? "met" : "missed"});
}

std::string Report::targets() const {
    std::vector<Cells> met;
    std::vector<Cells> missed;
    for (const Cells& target : targets_) (target[3] == "met" ? met : missed).push_back(target);
    return std::to_string(missed.size()) + " of " + std::to_string(targets_.size()) +
           " targets were missed.\n\n" + markdown_of(target_columns, missed) +
           "What limits these ratios:\n\n" + limitations_ + "\n" +
           folded("Targets that were met", markdown_of(target_columns, met));
}

void Report::write_figures() const {
    std::ofstream file{std::filesystem::path{raw_folder} / "figures.csv"};
    file << "section,subject,measure,unit,round,value\n";
    for (const Series& s : all_)
        for (size_t round = 0; round < s.values.size(); ++round)
            file << s.section << ",\"" << s.subject << "\",\"" << s.measure << "\"," << s.unit
                 << ',' << round + 1 << ',' << s.values[round] << '\n';
    for (const Cells& target : targets_)
        file << "targets,\"" << target[0] << ", " << target[1] << "\",ratio," << target[3] << ",1,"
             << target[2] << '\n';
}

void Report::finish(const Cells& machine) {
    write_figures();
    std::ofstream file{folder_ / "README.md"};
    file << "# Benchmarks\n\nAll figures are from one machine, which runs the clients and the "
            "server. Compare the figures with each other, not with those of other machines. A "
            "ratio is the median of paired runs, so it differs from the quotient of two figures. "
            "In the charts, Snowdrift is blue, and everything else is gray. The tables are folded "
            "below.\n"
         << charts_;
    if (!targets_.empty()) {
        std::printf("\nTargets\n\n");
        print_table(target_columns, targets_);
        file << "\n## Targets that were missed\n\n" << targets();
    }
    file << "\n## Machine and method\n\n";
    for (const auto& line : machine) file << "- " << line << "\n";
    file << "\n`./dev bench` repeats the measurements and writes this page, and all figures to `"
         << raw_folder
         << "/figures.csv`. Figures are medians of alternating runs; ratios are medians of the "
            "ratios of paired runs.\n";
    for (const Section& section : sections_)
        file << "\n## " << section.title << "\n\n"
             << section.meaning << folded("Measurements", section.details);
}

}  // namespace snowdrift::bench
