#include "pg/support/random.hpp"

extern "C" {
#include "storage/proc.h"
}

namespace snowdrift {

RandomBatch random_batch;

void RandomBatch::fill() {
    Assert(MyProc != nullptr);  // every process that the postmaster forks would inherit the bytes
    left_ = 0;
    if (!pg_strong_random(bytes_, size))
        ereport(ERROR,
                (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
    left_ = size;
}

}  // namespace snowdrift
