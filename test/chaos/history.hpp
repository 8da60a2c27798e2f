// What clients have received: the records of a run, and the files that keep them until it is
// checked. checker.hpp checks them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "chaos/ids.hpp"

namespace snowdrift::chaos {

/// Nanoseconds since the beginning of the run, by the monotonic clock of this program.
using Time = int64_t;

/// A generator of a lineage: of a server and of the servers that continue after it. Sno values with
/// different ticks belong to different streams.
using Stream = uint32_t;

constexpr Stream stream_of(unsigned lineage, size_t source, unsigned tick) {
    return static_cast<Stream>((lineage * sources.size() + source) * 2 + tick);
}
constexpr unsigned lineage_of(Stream stream) {
    return static_cast<unsigned>(stream / 2 / sources.size());
}
constexpr const Source& source_of(Stream stream) { return sources[stream / 2 % sources.size()]; }

/// IDs of one stream that a client has received together.
struct Receipt {
    Time begin = 0;  ///< no ID was drawn before. If all IDs of a transaction have one time, its
                     ///< first draw counts
    Time end = 0;    ///< the IDs had been received: those of the first draw if it counts
    Id first;        ///< the smallest
    Id last;         ///< the greatest
    Stream stream = 0;
    uint32_t client = 0;
};

/// A call that has raised an error, or has lost its connection.
struct Failure {
    Time begin = 0;
    Time end = 0;
    unsigned lineage = 0;
    std::string state;  ///< SQLSTATE; empty if the connection was lost
    std::string message;
};

/// A fault that explains errors. `any` explains those that many faults can cause: lost
/// connections.
enum class Fault : uint8_t { any, cancellation, clock, extension, generators, full_disk, recovery };

/// The time in which a fault could have an effect on the servers of a lineage.
struct Window {
    Time begin = 0;
    Time end = 0;
    unsigned lineage = 0;
    Fault fault = Fault::any;
};

/// A contradiction to docs/guarantees.md.
struct Finding {
    std::string what;
    Time begin = 0;
    Time end = 0;
    unsigned lineage = 0;
    std::optional<Fault> unless;  ///< no contradiction if this fault could have an effect
};

/// The longest step of a clock, ahead or back.
constexpr double longest_clock_step_s = 300;

/// Appends what one client receives to files of its own in a folder.
class Recorder {
 public:
    /// The client draws from the generators of one lineage. A later client may have the same
    /// number. Throws if the files cannot be created.
    Recorder(const std::filesystem::path& folder, uint32_t client, unsigned lineage);

    /// The IDs of one source in the result of a call, in the order in which they were drawn.
    void receive(size_t source, Time begin, Time end, const std::vector<Id>& ids);

    /// Ends a transaction, also one that was rolled back or whose connection was lost.
    void end_transaction();

    /// The server has confirmed the commit of a row with this Snowflake.
    void acknowledge(const Id& id);

    uint64_t received(Format format) const { return received_[static_cast<size_t>(format)]; }
    const std::vector<Finding>& findings() const { return findings_; }

 private:
    void receive_in_stream(Stream stream, Time begin, Time end, const std::vector<Id>& ids);
    void report(const std::string& what, Stream stream, Time begin, Time end,
                std::optional<Fault> unless);

    uint32_t client_;
    unsigned lineage_;
    std::array<std::ofstream, format_count> ids_;
    std::ofstream receipts_;
    std::filesystem::path acknowledged_;
    std::ofstream acknowledgements_;
    std::vector<Receipt> of_transaction_;
    std::array<uint64_t, format_count> received_{};
    std::vector<Finding> findings_;
};

/// The files that recorders have written to a folder.
std::vector<std::filesystem::path> id_files(const std::filesystem::path& folder, Format format);
std::vector<std::filesystem::path> receipt_files(const std::filesystem::path& folder);
std::vector<std::filesystem::path> acknowledgement_files(const std::filesystem::path& folder,
                                                         unsigned lineage);

/// Reads records of type `T` from a file, some at a time.
template <typename T>
class Reader {
 public:
    explicit Reader(const std::filesystem::path& file) : file_{file, std::ios::binary} {}

    /// The next record; nothing at the end of the file.
    std::optional<T> next() {
        if (position_ == buffer_.size()) {
            buffer_.resize(4096);
            file_.read(reinterpret_cast<char*>(buffer_.data()),
                       static_cast<std::streamsize>(buffer_.size() * sizeof(T)));
            buffer_.resize(static_cast<size_t>(file_.gcount()) / sizeof(T));
            position_ = 0;
        }
        if (buffer_.empty()) return std::nullopt;
        return buffer_[position_++];
    }

 private:
    std::ifstream file_;
    std::vector<T> buffer_;
    size_t position_ = 0;
};

}  // namespace snowdrift::chaos
