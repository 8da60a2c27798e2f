// The report of a benchmark run: figures, tables, charts and targets, and the files that store
// them. The page begins with the charts and what they mean; its tables are folded below.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace snowdrift::bench {

/// Formats a number with `digits` digits after the decimal point.
std::string shown(double value, int digits);

using Cells = std::vector<std::string>;

/// The values of one measure of one subject, one per round. Values of the same round are
/// comparable.
struct Series {
    std::string section, subject, measure, unit;
    std::vector<double> values;
};

/// A group of bars of a chart. Snowdrift's bars have a different color from all others.
struct Bars {
    std::string label;
    std::vector<double> values;
    bool ours;
};

/// The colors in charts: Snowdrift's, and that of all others.
constexpr const char* our_color = "#3b7ea1";
constexpr const char* other_color = "#999999";

/// The style of a line of a chart, for gnuplot's plot. Lines of the same color have different
/// points; `line` counts them.
std::string line_style(bool ours, size_t line);

/// The folder of the raw figures, which are too many for the repository.
constexpr const char* raw_folder = "build/benchmarks";

/// Collects the measurements of the sections. Writes the charts and README.md to a folder, and
/// figures.csv to `raw_folder`.
class Report {
 public:
    explicit Report(std::filesystem::path folder);

    /// Begins a section and prints its title.
    void begin(const std::string& section, const std::string& title);

    /// Adds a figure of the current section: the next round of its series.
    void figure(const std::string& subject, const std::string& measure, const std::string& unit,
                double value);

    /// Whether the section has figures of this measure of the subject.
    bool has(const std::string& section, const std::string& subject,
             const std::string& measure) const;

    /// The median of a series.
    double of(const std::string& section, const std::string& subject,
              const std::string& measure) const;

    /// The mean of a series.
    double mean(const std::string& section, const std::string& subject,
                const std::string& measure) const;

    /// The median, over the rounds, of one subject's figure divided by another's.
    double ratio(const std::string& section, const std::string& measure, const std::string& subject,
                 const std::string& base) const;

    /// Prints a table, and adds it to README.md. The first column is left-aligned, the others are
    /// right-aligned.
    void table(const Cells& header, const std::vector<Cells>& rows);

    /// Adds a text that explains the measurements or their limits. The page folds it, like tables.
    void note(const std::string& text);

    /// Sets the paragraph below the title of a section without charts: what its figures mean.
    void meaning(const std::string& text);

    /// Draws a chart with gnuplot. `meaning`: what it shows, and what follows for users. `script`
    /// sets everything except terminal, output and title.
    void chart(const std::string& name, const std::string& title, const std::string& meaning,
               int height, const std::string& script);

    /// Draws groups of horizontal bars, from top to bottom, on a linear axis that starts at 0. The
    /// bars of a group stand for `series`; there are at most two. Values have `digits` digits after
    /// the decimal point.
    void bars(const std::string& name, const std::string& title, const std::string& meaning,
              const Cells& series, const std::vector<Bars>& groups, int digits);

    /// Adds a row to the table of targets. The target is met if `value` is at most, or at least,
    /// `limit`.
    void at_most(const std::string& what, double limit, double value);
    void at_least(const std::string& what, double limit, double value);

    /// Adds a sentence or more on what limits ratios. The page shows it below the missed targets.
    void limitation(const std::string& text);

    /// Prints the targets, and writes figures.csv and README.md. `machine`: lines that describe the
    /// machine and the server.
    void finish(const Cells& machine);

 private:
    struct Section {
        std::string title, meaning, details;
    };

    void target(const std::string& what, const std::string& limit, double value, bool met);
    const Series& series(const std::string& section, const std::string& subject,
                         const std::string& measure) const;
    std::string targets() const;
    void write_figures() const;

    std::filesystem::path folder_;
    std::string section_;
    std::vector<Series> all_;
    std::vector<Cells> targets_;
    std::string limitations_;
    std::vector<Section> sections_;
    std::string charts_;
};

}  // namespace snowdrift::bench
