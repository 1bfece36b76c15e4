// SPDX-License-Identifier: Apache-2.0
// What the process may use and which system calls it may make. A parser of strangers' files that is led astray can then
// read files and compute, nothing else: it starts no program, opens no connection, and writes no file.
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <stiction/worker.h>

// The address sanitizer reserves terabytes and looks for leaks by a second process.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#if SANITIZED
// The sanitizer's own limits instead; its search for leaks at the end would find what the process leaves to the system.
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "hard_rss_limit_mb=800:detect_leaks=0:allocator_may_return_null=0";
}
#endif

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

/// `grace` lies between the signal that tells the limit and the one that ends.
static void limit(__rlimit_resource_t what, rlim_t most, rlim_t grace) {
    struct rlimit now;
    if (getrlimit(what, &now) == 0 && now.rlim_max != RLIM_INFINITY && now.rlim_max < most + grace) {
        most = now.rlim_max;
        grace = 0;
    }
    struct rlimit wanted = {most, most + grace};
    setrlimit(what, &wanted);
}

void stn_worker_limit(uint64_t memory, uint32_t seconds) {
    if (!SANITIZED) {
        limit(RLIMIT_AS, memory, 0);
    }
    limit(RLIMIT_CPU, seconds, 1);
    limit(RLIMIT_FSIZE, 0, 0);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_NOFILE, 16, 0);
    limit(RLIMIT_NPROC, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a killed program cannot end its worker any more
}

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

void stn_worker_limit_calls(void) {
#if defined(MACHINE)
    // O_WRONLY, O_RDWR, O_CREAT and O_TRUNC are the bits that opening for reading does not have
    static const uint32_t writing = 01 | 02 | 0100 | 01000;
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        REFUSE,
        LOAD(nr),
        ALLOW(read),
        ALLOW(write),
        ALLOW(sendto),
        ALLOW(recvfrom),
        ALLOW(close),
        ALLOW(fstat),
        ALLOW(newfstatat),
        ALLOW(readlinkat),
        ALLOW(faccessat),
        ALLOW(faccessat2),
        ALLOW(lseek),
        ALLOW(mmap),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(mprotect),
        ALLOW(madvise),
        ALLOW(brk),
        ALLOW(futex),
        ALLOW(getrandom),
        ALLOW(clock_gettime),
        ALLOW(gettimeofday),
        ALLOW(getpid),
        ALLOW(gettid),
        ALLOW(tgkill),
        ALLOW(rt_sigaction),
        ALLOW(rt_sigprocmask),
        ALLOW(rt_sigreturn),
        ALLOW(exit),
        ALLOW(exit_group),
#if defined(__x86_64__)
        ALLOW(readlink),
        ALLOW(lstat),
        ALLOW(stat),
        ALLOW(time),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        REFUSE,
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, writing, 0, 1),
        REFUSE,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    };
    struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
    if (!SANITIZED && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
    }
#endif
}
