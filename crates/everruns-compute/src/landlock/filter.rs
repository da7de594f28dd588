use std::collections::BTreeMap;

use everruns_core::compute::ComputeError;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

/// No command needs these, and each is a way out of a sandbox or a change to the whole host when the user may do it.
const DANGEROUS: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// On x86-64, the same calls have a second set of numbers.
const X32: libc::c_long = 0x4000_0000;

pub(super) fn is_known_processor() -> bool {
    TargetArch::try_from(std::env::consts::ARCH).is_ok()
}

/// A filter that denies dangerous calls and, with `deny_network`, every way to make a socket that reaches anything:
/// of the network, of this host, or of the kernel. Pairs of sockets within a command work.
pub(super) fn build(deny_network: bool) -> Result<BpfProgram, ComputeError> {
    let mut denied = DANGEROUS.to_vec();
    if deny_network {
        denied.push(libc::SYS_socket);
    }
    let mut rules = BTreeMap::new();
    for call in denied {
        rules.insert(call, Vec::new());
        if cfg!(target_arch = "x86_64") {
            rules.insert(call | X32, Vec::new());
        }
    }
    let refusal = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let processor = TargetArch::try_from(std::env::consts::ARCH).map_err(unavailable)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, processor);
    filter.and_then(BpfProgram::try_from).map_err(unavailable)
}

/// Restricts the calling thread, and all that it starts, for good.
pub(super) fn apply(program: &BpfProgram) -> Result<(), ComputeError> {
    seccompiler::apply_filter(program).map_err(unavailable)
}

fn unavailable(error: impl std::fmt::Display) -> ComputeError {
    ComputeError::IsolationUnavailable {
        missing: format!("the system call filter ({error})"),
    }
}
