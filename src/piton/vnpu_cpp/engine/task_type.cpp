/*
 * On which cores a kernel runs, as it says itself when it starts.
 *
 * Problem: the vendor's build reads the kind of a kernel off its source (declaration, KERNEL_TASK_TYPE, template selection); here it comes out when the
 * kernel runs, on the cores that the launch began with.
 * Approach: a word of higher standing counts, one of equal standing must not differ. Where a block has other cores than it was started with, or they run other
 * code, the launch begins anew.
 * Limits: the kernel must not have stored or printed anything before.
 */
#include "core.h"

namespace vnpu {

namespace {

const char *kind_title(uint32_t kind) {
    static const char *const titles[] = {"vector cores", "cube cores", "one cube and one vector core per block", "one cube and two vector cores per block"};
    return titles[kind % 4];
}

// The higher counts.
int standing(uint32_t rank) {
    switch (rank) {
        case VNPU_TYPE_GUESSED:
            return 0;
        case VNPU_TYPE_DEFAULT:
            return 1;
        default:
            return static_cast<int>(rank);
    }
}

const char *speaker(uint32_t rank) {
    return rank == VNPU_TYPE_OF_KEY ? "KERNEL_TASK_TYPE" : rank == VNPU_TYPE_SELECTED ? "ASCENDC_TPL_KERNEL_TYPE_SEL" : "KERNEL_TASK_TYPE_DEFAULT";
}

void refuse_type(Core &core, const vnpu_record &record, const std::string &text) { core.fail(record, "bad_parameter", text, {{"core_kind", record.p[0]}}); }

// Is there a word already that counts more, or the same word?
bool is_settled(const Launch &launch, const TaskType &said) {
    if (said.rank == VNPU_TYPE_GUESSED) return launch.kind_rank || launch.groups.kind != VNPU_CORE_AIV;
    if (launch.kernel->core_kind != VNPU_CORE_AIV || !launch.kind_rank) return false;
    return standing(said.rank) < standing(*launch.kind_rank);
}

bool is_contradiction(const Launch &launch, const TaskType &said) {
    if (said.kind == launch.groups.kind) return false;
    return launch.kernel->core_kind != VNPU_CORE_AIV || (launch.kind_rank && standing(said.rank) == standing(*launch.kind_rank));
}

// Its cores are others, or run other code, than those the launch began with.
bool is_other_launch(const Launch &launch, uint32_t kind) {
    const bool has_other_cores = Groups{kind, 1}.members() != launch.groups.members();
    return has_other_cores || (launch.kernel->cube_entry && kind != launch.groups.kind);
}

}  // namespace

// The kernel says on which cores it runs, which a declaration (`__cube__`, `__mix__`) or another such call must not contradict. Where a block has other cores
// than it was started with, the launch begins anew: nothing of what this one did counts, so that it must not have done anything that stays.
void task_type(Core &core, const vnpu_record &record) {
    Launch &launch = core.launch;
    const TaskType said{record.p[0], record.p[1]};
    if (said.kind > VNPU_CORE_MIX_1_2 || said.rank > VNPU_TYPE_SELECTED)
        refuse_type(core, record, std::string(speaker(said.rank)) + " names a kind that does not exist");
    if (is_settled(launch, said)) return;
    if (is_contradiction(launch, said))
        refuse_type(
            core, record,
            std::string(speaker(said.rank)) + " names " + kind_title(said.kind) + " in a kernel that was declared for " + kind_title(launch.groups.kind));
    if (!is_other_launch(launch, said.kind)) {
        launch.groups.kind = said.kind;
        launch.kind_rank = said.rank;
        launch.without_scheduler = record.p[2] != 0 ? std::optional<Place>(place_of(record)) : std::nullopt;
        return;
    }
    if (launch.has_stored || launch.printed_bytes != 0)
        refuse_type(core, record,
                    std::string("the kernel turns out to be one of ") + kind_title(said.kind) + " after it has " +
                        (launch.has_stored ? "stored to global memory" : "printed") + ", as one of " + kind_title(launch.groups.kind) + ": say " +
                        speaker(said.rank) + " before the first store or print");
    launch.restart_as = said;
    core.fibre->abandon();
}

// A kernel compiled for each kind of core that says nothing about itself, and of which vector cores have nothing to do, is one for cube cores.
std::optional<TaskType> other_kind(const Launch &launch) {
    const bool is_open = !launch.kind_rank && launch.groups.kind == VNPU_CORE_AIV && launch.kernel->cube_entry;
    if (!is_open || launch.is_cut || launch.instructions != 0) return std::nullopt;
    return TaskType{VNPU_CORE_AIC, VNPU_TYPE_GUESSED};
}

}  // namespace vnpu
