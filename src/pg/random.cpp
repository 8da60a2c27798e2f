#include "pg/random.hpp"

namespace snowdrift {

RandomBatch random_batch;

void RandomBatch::fill() {
    left_ = 0;
    if (!pg_strong_random(bytes_, size))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                        errmsg("could not generate random bits for a ULID")));
    left_ = size;
    drawn_by_ = MyProcPid;
}

}  // namespace snowdrift
