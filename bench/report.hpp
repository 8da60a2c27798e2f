// What a run of the benchmark found: raw figures, tables, charts and targets, and the files that
// keep them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace snowdrift::bench {

double median(std::vector<double> values);

/// A number for people: with so many digits after the point.
std::string shown(double value, int digits);

using Cells = std::vector<std::string>;

/// The values of one measure of one subject, a round each. Equal rounds ran side by side.
struct Series {
    std::string section, subject, measure, unit;
    std::vector<double> values;
};

/// Collects what the sections measure. The folder gets figures.csv, the charts and README.md.
class Report {
 public:
    explicit Report(std::filesystem::path folder);

    /// A section begins: its title is shown at once.
    void begin(const std::string& section, const std::string& title);

    /// One figure of the present section; the next round of its series.
    void figure(const std::string& subject, const std::string& measure, const std::string& unit,
                double value);

    /// Whether the section has that measure of the subject.
    bool has(const std::string& section, const std::string& subject,
             const std::string& measure) const;

    /// The median of a series.
    double of(const std::string& section, const std::string& subject,
              const std::string& measure) const;

    /// The median, over the rounds, of one subject's figure divided by another's.
    double ratio(const std::string& section, const std::string& measure, const std::string& subject,
                 const std::string& base) const;

    /// A table: shown, and kept for README.md. The first cells are to the left, all others right.
    void table(const Cells& header, const std::vector<Cells>& rows);

    /// A sentence or more on what is measured, or what bounds it.
    void note(const std::string& text);

    /// A chart, made of a gnuplot script that sets all but its output.
    void chart(const std::string& name, const std::string& title, int height,
               const std::string& script);

    /// A row of the table of targets: met where `value` is on the right side of `limit`.
    void at_most(const std::string& what, double limit, double value);
    void at_least(const std::string& what, double limit, double value);

    /// Shows the targets, and writes figures.csv and README.md.
    void finish(const Cells& machine);

 private:
    void target(const std::string& what, const std::string& limit, double value, bool met);
    const Series& series(const std::string& section, const std::string& subject,
                         const std::string& measure) const;
    void write_figures() const;

    std::filesystem::path folder_;
    std::string section_;
    std::vector<Series> all_;
    std::vector<Cells> targets_;
    std::string markdown_;
};

}  // namespace snowdrift::bench
