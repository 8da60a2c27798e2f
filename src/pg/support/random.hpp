// Random bytes from the operating system, by way of pg_strong_random(), fetched in batches.
#pragma once

#include <cstring>
#include <type_traits>

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// Bytes that were never given out before, and never will be by another process: only sessions draw
/// them, and no session forks another.
class RandomBatch {
 public:
    /// Random bits for all of a T. Raises an error where there is no source of them.
    template <typename T>
    T take() {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= size);
        if (left_ < sizeof(T)) fill();
        T result;
        left_ -= sizeof(T);
        std::memcpy(&result, bytes_ + left_, sizeof(T));
        return result;
    }

 private:
    static constexpr size_t size = 1024;

    void fill();

    unsigned char bytes_[size];
    size_t left_ = 0;
};

extern RandomBatch random_batch;

}  // namespace snowdrift
