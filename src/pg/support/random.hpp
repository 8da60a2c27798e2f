// Random bytes from pg_strong_random(), fetched in batches.
#pragma once

#include <cstring>
#include <type_traits>

#include "pg/support/postgres.hpp"

namespace snowdrift {

/// A batch of random bytes. Each byte is used once, and in one process: the batch is filled only in
/// sessions, which do not fork.
class RandomBatch {
 public:
    /// Returns a T of random bits. Raises XX000 if the server has no source of random bits.
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

    void fill() {
        Assert(MyProc != nullptr);  // every process that the postmaster forks would inherit them
        left_ = 0;
        if (!pg_strong_random(bytes_, size))
            ereport(ERROR,
                    (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
        left_ = size;
    }

    unsigned char bytes_[size];
    size_t left_ = 0;
};

inline RandomBatch random_batch;

}  // namespace snowdrift
