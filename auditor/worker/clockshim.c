/* The wall clock of a process that preloads this library, frozen at AUDITOR_CLOCK_NS (nanoseconds since 1970).

   Only the wall clock: the monotonic clocks run on, so sleeps and time-outs work, and waits until a wall-clock instant
   are moved back to real time. Raw system calls and static programs are not reached.

   Attribution: auditor_clock_choose() takes a function that is asked at every read by a thread that Python knows, and
   gives the instant that this one read sees. It runs with the interpreter's lock, so that it can look at the Python
   stack. Threads that Python does not know are never asked, since somebody who holds the lock may wait for them; their
   reads are counted by the library that made them. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
#define backtrace(stack, most) 0
#endif

#define SECOND 1000000000LL
#define MOST_LIBRARIES 64
#define MOST_FRAMES 64
#define CALLER __builtin_return_address(0)

/* No machine has been up for so long, and no wall clock that we set stands before it: 1979. */
#define FIRST_WALL_SECOND 300000000

#define REAL(type, name) \
    static type (*real)(); \
    if (!real) real = (type (*)())dlsym(RTLD_NEXT, name)

typedef long long (*chooser)(void *caller);

static _Atomic chooser choose;
static _Atomic long long base_ns = LLONG_MIN, other_ns = LLONG_MIN;
static __thread int asking;

static int (*gil_held)(void);
static void *(*thread_state)(void);
static void *(*error_set)(void);
static void (*error_fetch)(void **, void **, void **);
static void (*error_restore)(void *, void *, void *);

/* Libraries that read on threads of their own: named, counted, and given an instant of their own if one is set. */
static struct { const char *file; long long reads, instant; } library[MOST_LIBRARIES];
static int libraries;
static char told_library[4096];
static long long told_ns;
static pthread_mutex_t listed = PTHREAD_MUTEX_INITIALIZER;

static long long base(void)
{
    long long now = atomic_load(&base_ns);
    if (now == LLONG_MIN) {
        const char *text = getenv("AUDITOR_CLOCK_NS");
        now = text ? atoll(text) : 0;
        atomic_store(&base_ns, now);
    }
    return now;
}

static const char *file_of(void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

/* The library on whose behalf `caller` read: the nearest on the stack that is no runtime of C, C++ or Python. */
static const char *library_of(void *caller)
{
    void *stack[MOST_FRAMES];
    const char *python = file_of(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    int count = backtrace(stack, MOST_FRAMES), index = 0;
    while (index < count && stack[index] != caller) index++;
    for (; index < count; index++) {
        const char *file = file_of(stack[index]), *name = strrchr(file, '/');
        name = name ? name + 1 : file;
        if (*file && strcmp(file, python) && strncmp(name, "libstdc++", 9) && strncmp(name, "libc.", 5)
            && strncmp(name, "libc++", 6) && strncmp(name, "libpthread", 10) && strncmp(name, "_datetime.", 10))
            return file;
    }
    return file_of(caller);
}

static long long unknown_thread(void *caller)
{
    const char *file = library_of(caller);
    long long now = base();
    int index;
    pthread_mutex_lock(&listed);
    for (index = 0; index < libraries && strcmp(library[index].file, file); index++) { }
    if (index == libraries && libraries < MOST_LIBRARIES) {
        library[index].file = strdup(file);
        library[index].instant = strcmp(file, told_library) ? now : told_ns;
        libraries++;
    }
    if (index < libraries) {
        library[index].reads++;
        now = library[index].instant;
    }
    pthread_mutex_unlock(&listed);
    return now;
}

static long long instant(void *caller)
{
    chooser ask = atomic_load(&choose);
    void *type = NULL, *value = NULL, *trace = NULL;
    int error = errno, held, pending;
    long long now;
    if (!ask || asking) return base();
    asking = 1;
    if (!thread_state()) {
        now = unknown_thread(caller);
    } else {
        held = gil_held();
        pending = held && error_set();
        if (pending) error_fetch(&type, &value, &trace);
        now = ask(caller);
        if (pending) error_restore(type, value, trace);
    }
    if (now != base()) atomic_store(&other_ns, now);
    asking = 0;
    errno = error;
    return now;
}

/* Asked from Python. */

int auditor_clock_choose(chooser function)
{
    gil_held = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Check");
    thread_state = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    error_set = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyErr_Occurred");
    error_fetch = (void (*)(void **, void **, void **))dlsym(RTLD_DEFAULT, "PyErr_Fetch");
    error_restore = (void (*)(void *, void *, void *))dlsym(RTLD_DEFAULT, "PyErr_Restore");
    if (!gil_held || !thread_state || !error_set || !error_fetch || !error_restore) return 0;
    atomic_store(&choose, function);
    return 1;
}

const char *auditor_clock_library_of(void *caller) { return library_of(caller); }

const char *auditor_clock_library(int index, long long *reads)
{
    const char *file = NULL;
    pthread_mutex_lock(&listed);
    if (index < libraries) {
        file = library[index].file;
        *reads = library[index].reads;
    }
    pthread_mutex_unlock(&listed);
    return file;
}

void auditor_clock_tell_library(const char *file, long long ns)
{
    strncpy(told_library, file, sizeof told_library - 1);
    told_ns = ns;
}

/* Headers promise that some arguments are not null, and compilers leave out the checks; callers pass null all the same. */
static int is_given(const void *pointer)
{
    const void *volatile looked_at = pointer;
    return looked_at != NULL;
}

/* The reads. */

static int is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    REAL(int, "clock_gettime");
    if (!is_wall(clock)) return real(clock, out);
    long long now = instant(CALLER);
    out->tv_sec = now / SECOND;
    out->tv_nsec = now % SECOND;
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    long long now = instant(CALLER);
    if (is_given(out)) {
        out->tv_sec = now / SECOND;
        out->tv_usec = now % SECOND / 1000;
    }
    if (is_given(zone)) memset(zone, 0, sizeof(struct timezone));
    return 0;
}

time_t time(time_t *out)
{
    time_t now = instant(CALLER) / SECOND;
    if (is_given(out)) *out = now;
    return now;
}

int timespec_get(struct timespec *out, int scale)
{
    if (scale != TIME_UTC) return 0;
    long long now = instant(CALLER);
    out->tv_sec = now / SECOND;
    out->tv_nsec = now % SECOND;
    return scale;
}

/* The waits: a deadline on the frozen clock is as far from now as it is from the instant that was read. */

static struct timespec moved(const struct timespec *until)
{
    struct timespec now, out;
    if (until->tv_sec < FIRST_WALL_SECOND) return *until;
    long long wanted = until->tv_sec * SECOND + until->tv_nsec;
    long long read = base(), other = atomic_load(&other_ns);
    if (other != LLONG_MIN && llabs(wanted - other) < llabs(wanted - read)) read = other;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now); /* past a vDSO that is frozen too */
    wanted += now.tv_sec * SECOND + now.tv_nsec - read;
    out.tv_sec = wanted / SECOND;
    out.tv_nsec = wanted % SECOND;
    return out;
}

#define WAIT(name, parameters, until, ...) \
    int name parameters \
    { \
        REAL(int, #name); \
        if (!is_given(until)) return real(__VA_ARGS__); \
        struct timespec moved_until = moved(until); \
        until = &moved_until; \
        return real(__VA_ARGS__); \
    }

typedef const struct timespec *restrict deadline;

WAIT(pthread_cond_timedwait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, deadline t), t, c, m, t)
WAIT(pthread_cond_clockwait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t k, deadline t), t, c, m, k, t)
WAIT(pthread_mutex_timedlock, (pthread_mutex_t *restrict m, deadline t), t, m, t)
WAIT(pthread_mutex_clocklock, (pthread_mutex_t *restrict m, clockid_t k, deadline t), t, m, k, t)
WAIT(pthread_rwlock_timedrdlock, (pthread_rwlock_t *restrict l, deadline t), t, l, t)
WAIT(pthread_rwlock_timedwrlock, (pthread_rwlock_t *restrict l, deadline t), t, l, t)
WAIT(sem_timedwait, (sem_t *restrict s, deadline t), t, s, t)
WAIT(sem_clockwait, (sem_t *restrict s, clockid_t k, deadline t), t, s, k, t)
WAIT(cnd_timedwait, (cnd_t *restrict c, mtx_t *restrict m, deadline t), t, c, m, t)
WAIT(mtx_timedlock, (mtx_t *restrict m, deadline t), t, m, t)

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    REAL(int, "clock_nanosleep");
    if (!(flags & TIMER_ABSTIME) || !is_given(until)) return real(clock, flags, until, left);
    struct timespec moved_until = moved(until);
    return real(clock, flags, &moved_until, left);
}

int timerfd_settime(int file, int flags, const struct itimerspec *set, struct itimerspec *old)
{
    REAL(int, "timerfd_settime");
    if (!(flags & TFD_TIMER_ABSTIME) || !is_given(set)) return real(file, flags, set, old);
    struct itimerspec moved_set = *set;
    moved_set.it_value = moved(&set->it_value);
    return real(file, flags, &moved_set, old);
}
