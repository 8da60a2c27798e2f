// Text diagrams of IDs: the bits under the names and values of the fields.
#pragma once

#include <array>

#include "pg/support/postgres.hpp"

extern "C" {
#include "lib/stringinfo.h"
}

namespace snowdrift {

/// Draws an ID in rows of 64 bits, most significant bit first:
///
///     timestamp 2010-11-04T01:42:54.657Z
///     |      worker 3
///     |      |   sequence 0
///     |      |   |
///     010101 011 0000
class Diagram {
 public:
    /// `bytes`: the ID, big-endian. The Diagram does not copy it; it must outlive the Diagram.
    explicit Diagram(const uint8* bytes) : bytes_{bytes} {
        initStringInfo(&rows_);
        initStringInfo(&row_);
    }

    /// Appends a field of `width` bits. A field without bits is omitted.
    void add(const char* name, int width, const char* value);

    /// Appends a field whose value is a time or a number.
    void add_time(const char* name, int width, int64 unix_ms);
    void add_number(const char* name, int width, uint32 value);

    /// Returns the diagram as a Datum of type text. Call it once, after the last field.
    Datum finish();

 private:
    static constexpr int bits_per_row = 64;

    struct Label {
        int column;
        const char* name;
        const char* value;
    };

    void end_row();
    void append_labels();

    const uint8* bytes_;
    int bit_ = 0;                  // number of bits drawn
    StringInfoData rows_;          // complete rows with their labels
    StringInfoData row_;           // bits of the current row
    std::array<Label, 8> labels_;  // fields that begin in the current row
    size_t label_count_ = 0;
};

}  // namespace snowdrift
