//! Closing files and network to the compiler once its libraries are loaded.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How well the compiler was shut in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxLevel {
    /// No file can be opened, no connection made, no program started.
    Closed,
    /// Only part of that holds, since the kernel lacks Landlock or system call filters.
    Partial {
        /// Landlock forbids every access to files.
        files: bool,
        /// A filter forbids the system calls that open files, connect or start programs.
        calls: bool,
    },
    /// Only time and memory are limited.
    LimitsOnly,
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "no files, no network",
            Self::Partial { files: true, .. } => {
                "no files (Landlock); this kernel offers no system call filter"
            }
            Self::Partial { .. } => "no files, no network (system call filter); this kernel lacks Landlock",
            Self::LimitsOnly => {
                "time and memory limits only: this system offers neither Landlock nor system call filters, \
                 so compile only sources that you trust"
            }
        })
    }
}

/// Shuts this process in for good and says how well that went. Libraries it needs must be loaded before.
pub(super) fn enter() -> SandboxLevel {
    let (files, calls) = (close_files(), filter_calls());
    match (files, calls) {
        (true, true) => SandboxLevel::Closed,
        (false, false) => SandboxLevel::LimitsOnly,
        (files, calls) => SandboxLevel::Partial { files, calls },
    }
}

/// Shuts this process in as far as the loader lets: libraries can be read, and that is all. It comes before a library is
/// loaded, since loading runs what is in it.
pub(super) fn enter_to_load() {
    leave_reading();
    refuse_other_calls();
}

/// Landlock that lets files be read and nothing else.
#[cfg(target_os = "linux")]
fn leave_reading() {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
        Scope,
    };
    let restrict = || -> Result<_, Box<dyn std::error::Error>> {
        let reading = AccessFs::ReadFile | AccessFs::ReadDir;
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V5))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .add_rule(PathBeneath::new(PathFd::new("/")?, reading))?;
        Ok(ruleset.restrict_self()?)
    };
    // Where the kernel lacks it, `enter` says so.
    let _ = restrict();
}

/// Landlock with no rule at all: every access that it knows is refused.
#[cfg(target_os = "linux")]
fn close_files() -> bool {
    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};
    // Best effort: older kernels drop what they lack (truncation, network, scopes); reading and writing files are
    // in the first version.
    let restrict = || {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V5))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()
    };
    restrict().is_ok_and(|status| status.ruleset != RulesetStatus::NotEnforced)
}

/// A seccomp filter that refuses the calls a compiler has no use for. It works where Landlock is missing, and also
/// covers what Landlock does not: telling whether a path exists, UDP, starting programs.
#[cfg(target_os = "linux")]
fn filter_calls() -> bool {
    refuse(PATH_CALLS, libc::ENOENT) && refuse_other_calls()
}

#[cfg(target_os = "linux")]
fn refuse_other_calls() -> bool {
    refuse(OTHER_CALLS, libc::EPERM)
}

/// Has these system calls fail with `errno` from now on.
#[cfg(target_os = "linux")]
fn refuse(calls: &[i64], errno: i32) -> bool {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let apply = || {
        let arch: TargetArch = std::env::consts::ARCH.try_into().ok()?;
        let rules = calls.iter().map(|&call| (call, Vec::new())).collect();
        let refuse = SeccompAction::Errno(errno.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).ok()?;
        let program: BpfProgram = filter.try_into().ok()?;
        seccompiler::apply_filter(&program).ok()
    };
    apply().is_some()
}

/// Calls that take a path. They answer as if nothing existed, so that a source cannot find out what does.
#[cfg(target_os = "linux")]
const PATH_CALLS: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
];

/// Calls that reach the network, other processes or the kernel's corners.
#[cfg(target_os = "linux")]
const OTHER_CALLS: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_io_uring_setup,
    libc::SYS_bpf,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mount,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
];

#[cfg(not(target_os = "linux"))]
fn close_files() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn leave_reading() {}

#[cfg(not(target_os = "linux"))]
fn filter_calls() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn refuse_other_calls() -> bool {
    false
}
