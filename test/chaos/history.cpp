#include "chaos/history.hpp"

#include <algorithm>
#include <stdexcept>

#include "chaos/checker.hpp"

namespace snowdrift::chaos {
namespace {

namespace fs = std::filesystem;

std::ofstream create(const fs::path& path) {
    std::ofstream file{path, std::ios::binary | std::ios::app};
    if (!file) throw std::runtime_error{"cannot create " + path.string()};
    return file;
}

template <typename T>
void write(std::ofstream& file, const T* records, size_t count) {
    file.write(reinterpret_cast<const char*>(records),
               static_cast<std::streamsize>(count * sizeof(T)));
    if (!file) throw std::runtime_error{"cannot write the history"};
}

std::string id_prefix(Format format) {
    return std::string{"ids."} + format_names[static_cast<size_t>(format)] + ".";
}

std::string acknowledgement_prefix(unsigned lineage) {
    return "acknowledged." + std::to_string(lineage) + ".";
}

std::vector<fs::path> files(const fs::path& folder, const std::string& prefix) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator{folder})
        if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

Recorder::Recorder(const fs::path& folder, uint32_t client, unsigned lineage)
    : client_{client},
      lineage_{lineage},
      acknowledged_{folder / (acknowledgement_prefix(lineage) + std::to_string(client))} {
    const std::string number = std::to_string(client);
    for (size_t i = 0; i < format_count; ++i)
        ids_[i] = create(folder / (id_prefix(static_cast<Format>(i)) + number));
    receipts_ = create(folder / ("receipts." + number));
}

void Recorder::receive(size_t source, Time begin, Time end, const std::vector<Id>& ids) {
    if (ids.empty()) return;
    const auto format = static_cast<size_t>(sources[source].format);
    write(ids_[format], ids.data(), ids.size());
    received_[format] += ids.size();
    if (sources[source].order != Order::per_timeline) {
        receive_in_stream(stream_of(lineage_, source, 0), begin, end, ids);
        return;
    }
    std::array<std::vector<Id>, 2> timelines;
    for (const Id& id : ids) timelines[tick_of(id)].push_back(id);
    for (unsigned tick = 0; tick < 2; ++tick)
        if (!timelines[tick].empty())
            receive_in_stream(stream_of(lineage_, source, tick), begin, end, timelines[tick]);
}

void Recorder::receive_in_stream(Stream stream, Time begin, Time end, const std::vector<Id>& ids) {
    if (const auto pair = first_disorder(ids))
        report(text_of(pair->second) + " follows " + text_of(pair->first) + " in a result", stream,
               begin, end, std::nullopt);
    const auto [first, last] = std::minmax_element(ids.begin(), ids.end());
    Receipt receipt{begin, end, *first, *last, stream, client_};
    if (source_of(stream).order == Order::per_transaction) {
        // The first draw of a transaction takes the block of its further IDs. If the extension is
        // dropped and created in between, the transaction takes another block.
        const auto earlier =
            std::find_if(of_transaction_.rbegin(), of_transaction_.rend(),
                         [&](const Receipt& other) { return other.stream == stream; });
        const bool is_continued = earlier != of_transaction_.rend();
        if (is_continued && time_of(earlier->first) == time_of(*first)) {
            receipt.begin = earlier->begin;
            receipt.end = earlier->end;
            if (*first <= earlier->last)
                report(text_of(*first) + " follows " + text_of(earlier->last) + " in a transaction",
                       stream, begin, end, Fault::extension);
        } else if (is_continued) {
            report("a transaction has IDs of two times", stream, earlier->begin, end,
                   Fault::extension);
        }
        if (time_of(*first) != time_of(*last))
            report("a result has IDs of two times", stream, begin, end, Fault::extension);
    }
    of_transaction_.push_back(receipt);
}

void Recorder::end_transaction() {
    std::stable_sort(of_transaction_.begin(), of_transaction_.end(),
                     [](const Receipt& a, const Receipt& b) { return a.begin < b.begin; });
    write(receipts_, of_transaction_.data(), of_transaction_.size());
    of_transaction_.clear();
}

void Recorder::acknowledge(const Id& id) {
    if (!acknowledgements_.is_open()) acknowledgements_ = create(acknowledged_);
    write(acknowledgements_, &id, 1);
}

void Recorder::report(const std::string& what, Stream stream, Time begin, Time end,
                      std::optional<Fault> unless) {
    findings_.push_back(
        {std::string{source_of(stream).call} + ": " + what + ", client " + std::to_string(client_),
         begin, end, lineage_, unless});
}

std::vector<fs::path> id_files(const fs::path& folder, Format format) {
    return files(folder, id_prefix(format));
}

std::vector<fs::path> receipt_files(const fs::path& folder) { return files(folder, "receipts."); }

std::vector<fs::path> acknowledgement_files(const fs::path& folder, unsigned lineage) {
    return files(folder, acknowledgement_prefix(lineage));
}

}  // namespace snowdrift::chaos
