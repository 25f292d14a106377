/* An operator that does nothing, next to the loop that calls it as a C program would: what is left of a call when the
   operator's own work is taken away. */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int (*Phase1)(const void *self, const void *other, const void *alpha, void *out, uint64_t *size, void **executor);
typedef int (*Phase2)(void *workspace, uint64_t size, void *executor, void *stream);

#define EXPORT __attribute__((visibility("default")))

static int plan;

EXPORT int aclnnNullGetWorkspaceSize(const void *self, const void *other, const void *alpha, void *out, uint64_t *size,
                                     void **executor)
{
    (void)self, (void)other, (void)alpha, (void)out;
    *size = 0;
    *executor = &plan;
    return 0;
}

EXPORT int aclnnNull(void *workspace, uint64_t size, void *executor, void *stream)
{
    (void)workspace, (void)size, (void)executor, (void)stream;
    return 0;
}

static double Seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds per call of both phases, `calls` times in a row; the workspace must be large enough. Negative on an error. */
EXPORT double TwoPhases(Phase1 phase1, Phase2 phase2, const void *self, const void *other, const void *alpha, void *out,
                        void *workspace, void *stream, int calls)
{
    const double start = Seconds();
    for (int i = 0; i < calls; ++i) {
        uint64_t size = 0;
        void *executor = NULL;
        if (phase1(self, other, alpha, out, &size, &executor) != 0 || phase2(workspace, size, executor, stream) != 0) {
            return -1;
        }
    }
    return (Seconds() - start) / calls;
}

/* Seconds per call of the second phase alone, on a repeatable executor. */
EXPORT double SecondPhase(Phase2 phase2, void *workspace, uint64_t size, void *executor, void *stream, int calls)
{
    const double start = Seconds();
    for (int i = 0; i < calls; ++i) {
        if (phase2(workspace, size, executor, stream) != 0) {
            return -1;
        }
    }
    return (Seconds() - start) / calls;
}
