/* Kernels ordered by queues (engine_seeded.h), and the table of all. */
#include <cstring>

#include "engine_seeded.h"

using namespace AscendC;

namespace seeded {

/* out = 2 in, double buffered. */
void queues(const Scene &scene) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inputs;
    TQue<TPosition::VECOUT, 1> outputs;
    pipe.InitBuffer(inputs, 2, kTileBytes);
    pipe.InitBuffer(outputs, 2, kTileBytes);
    for (uint32_t tile = 0; tile < scene.tiles; ++tile) {
        LocalTensor<float> a = inputs.AllocTensor<float>();  // [13 here]
        DataCopy(a, scene.From()[tile * kTile], kTile);      // [11 earlier] [12 here]
        if (scene.Keep(11)) {
            if (scene.Keep(10)) inputs.EnQue(a);
            if (scene.Only(16)) inputs.EnQue(a);  // [16 here]
            a = inputs.DeQue<float>();            // [10 here]
        }
        LocalTensor<float> b = outputs.AllocTensor<float>();
        if (scene.Only(12)) inputs.FreeTensor(a);
        Muls(b, a, 2.0f, kTile);  // [11 here] [12 earlier]
        outputs.EnQue(b);
        if (scene.Only(15)) outputs.FreeTensor(a);  // [15 here]
        if (scene.Keep(12) && scene.Keep(13)) inputs.FreeTensor(a);
        if (scene.Only(14)) inputs.FreeTensor(a);  // [14 here]
        b = outputs.DeQue<float>();
        DataCopy(scene.To()[tile * kTile], b, kTile);
        outputs.FreeTensor(b);
    }
}

/* Three tiles are loaded before the first is used. */
void ahead(const Scene &scene) {
    TPipe pipe;
    TQue<TPosition::VECIN, 3> inputs;
    TQue<TPosition::VECOUT, 1> outputs;
    pipe.InitBuffer(inputs, scene.Only(18) ? 2 : 4, kTileBytes);
    pipe.InitBuffer(outputs, 1, kTileBytes);
    const uint32_t loads = scene.Only(17) ? 4 : 3;
    for (uint32_t tile = 0; tile < loads; ++tile) {
        LocalTensor<float> a = inputs.AllocTensor<float>();  // [18 here]
        DataCopy(a, scene.From()[tile * kTile], kTile);
        inputs.EnQue(a);  // [17 here]
    }
    for (uint32_t tile = 0; tile < loads; ++tile) {
        LocalTensor<float> a = inputs.DeQue<float>();
        LocalTensor<float> b = outputs.AllocTensor<float>();
        Muls(b, a, 2.0f, kTile);
        outputs.EnQue(b);
        inputs.FreeTensor(a);
        b = outputs.DeQue<float>();
        DataCopy(scene.To()[tile * kTile], b, kTile);
        outputs.FreeTensor(b);
    }
}

/* out = in by a queue that joins the two copies; it has no place for V. */
void through(const Scene &scene) {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> both;
    pipe.InitBuffer(both, 2, kTileBytes);
    for (uint32_t tile = 0; tile < scene.tiles; ++tile) {
        LocalTensor<float> a = both.AllocTensor<float>();
        DataCopy(a, scene.From()[tile * kTile], kTile);  // [19 earlier]
        both.EnQue(a);
        a = both.DeQue<float>();
        if (scene.Only(19)) Muls(a, a, 2.0f, kTile);  // [19 here]
        DataCopy(scene.To()[tile * kTile], a, kTile);
        both.FreeTensor(a);
    }
}

const Row kRows[] = {{"flags", flags},         {"pairs", pairs},     {"chain", chain},     {"reload", reload}, {"rewrite", rewrite},   {"back", back},
                     {"queues", queues},       {"ahead", ahead},     {"through", through}, {"share", share},   {"cross", cross},       {"turn", turn},
                     {"own_tiles", own_tiles}, {"count", count},     {"fresh", fresh},     {"fetch", fetch},   {"matrix", matrix},     {"halves", halves},
                     {"repeats", repeats},     {"partial", partial}, {"choose", choose},   {"tail", tail},     {"shift", shift},       {"pick", pick},
                     {"own_id", own_id},       {"many", many},       {"scratch", scratch}, {"single", single}, {"product", product},   {"spread", spread},
                     {"combine", combine},     {"counter", counter}, {"relay", relay},     {"meet", meet},     {"biased", biased},     {"rounds", rounds},
                     {"columns", columns},     {"ringed", ringed},   {"strided", strided}, {"shares", shares}, {"gathered", gathered}, {"halved", halved},
                     {"lines", lines}};

}  // namespace seeded

extern "C" void (*rig_seeded(const char *name))(const void *) {
    static thread_local void (*chosen)(const seeded::Scene &);
    for (const seeded::Row &row : seeded::kRows)
        if (std::strcmp(row.name, name) == 0) {
            chosen = row.kernel;
            return [](const void *arguments) {
                seeded::Scene scene;
                std::memcpy(static_cast<void *>(&scene), arguments, sizeof scene);
                chosen(scene);
            };
        }
    return nullptr;
}
