#include "pg/types/diagram.hpp"

#include "pg/support/time.hpp"

extern "C" {
#include "utils/builtins.h"
}

namespace snowdrift {

void Diagram::add(const char* name, int width, const char* value) {
    Assert(width >= 0);
    for (int i = 0; i < width; ++i, ++bit_) {
        if (bit_ > 0 && bit_ % bits_per_row == 0) end_row();
        if (i == 0) {
            if (row_.len > 0) appendStringInfoChar(&row_, ' ');
            Assert(label_count_ < labels_.size());
            labels_[label_count_++] = {row_.len, name, value};
        }
        const bool is_set = bytes_[bit_ / 8] >> (7 - bit_ % 8) & 1;
        appendStringInfoChar(&row_, is_set ? '1' : '0');
    }
}

void Diagram::add_time(const char* name, int width, int64 unix_ms) {
    add(name, width, utc_text(unix_ms));
}

void Diagram::add_number(const char* name, int width, uint32 value) {
    add(name, width, psprintf("%u", value));
}

Datum Diagram::finish() {
    end_row();
    return PointerGetDatum(cstring_to_text_with_len(rows_.data, rows_.len));
}

void Diagram::end_row() {
    if (rows_.len > 0) appendStringInfoString(&rows_, label_count_ > 0 ? "\n\n" : "\n");
    if (label_count_ > 0) append_labels();
    appendBinaryStringInfo(&rows_, row_.data, row_.len);
    resetStringInfo(&row_);
    label_count_ = 0;
}

/// Append one line per label, then a line of bars. The bars connect each label to the first bit of
/// its field.
void Diagram::append_labels() {
    for (size_t line = 0; line <= label_count_; ++line) {
        const int begin = rows_.len;
        const auto go_to = [&](int column) {
            appendStringInfoSpaces(&rows_, begin + column - rows_.len);
        };
        for (size_t i = 0; i < line; ++i) {
            go_to(labels_[i].column);
            appendStringInfoChar(&rows_, '|');
        }
        if (line < label_count_) {
            const Label& label = labels_[line];
            go_to(label.column);
            appendStringInfo(&rows_, "%s %s", label.name, label.value);
        }
        appendStringInfoChar(&rows_, '\n');
    }
}

}  // namespace snowdrift
