// IDs drawn for people: their bits, under the names and values of the fields.
#pragma once

#include <array>

#include "pg/support/postgres.hpp"

extern "C" {
#include "lib/stringinfo.h"
}

namespace snowdrift {

/// Draws an ID in rows of 64 bits, the most significant first:
///
///     timestamp 2010-11-04T01:42:54.657Z
///     |      worker 3
///     |      |   sequence 0
///     |      |   |
///     010101 011 0000
class Diagram {
 public:
    /// The ID's bytes are at `bytes`, big-endian, and stay there.
    explicit Diagram(const uint8* bytes) : bytes_{bytes} {
        initStringInfo(&rows_);
        initStringInfo(&row_);
    }

    /// Draw the field of the next `width` bits. One without bits does not show.
    void add(const char* name, int width, const char* value);

    /// Draw a field whose value is a time or a number.
    void add_time(const char* name, int width, int64 unix_ms);
    void add_number(const char* name, int width, uint32 value);

    /// The drawing, as a Datum of type text.
    Datum finish();

 private:
    struct Label {
        int column;
        const char* name;
        const char* value;
    };

    void end_row();
    void append_labels();

    const uint8* bytes_;
    int bit_ = 0;          // of the ID, the next one to draw
    StringInfoData rows_;  // those that are complete
    StringInfoData row_;   // the bits of the row at hand, and the fields that begin in it
    std::array<Label, 8> labels_;
    size_t label_count_ = 0;
};

}  // namespace snowdrift
