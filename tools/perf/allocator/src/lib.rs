//! The system allocator with counters per thread: number of allocations, and allocated bytes.
//! [`return_free_memory`] works with and without these counters.
//!
//! A binary installs it:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: schedc_allocator::CountingAllocator = schedc_allocator::CountingAllocator;
//!
//! let before = schedc_allocator::allocations();
//! drop(std::hint::black_box(Box::new(1)));
//! assert_eq!(schedc_allocator::allocations() - before, 1);
//! ```
//!
//! Counting is always on, so it must be cheap: two numbers per thread that are changed in place. Crates that
//! count (`stats_alloc`, `cap`, `allocation-counter`, `dhat`) use several atomic operations or a `RefCell`
//! for every allocation and deallocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Access to the two values never allocates, because they have no destructor and no lazy initialisation.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static ALLOCATED_BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Returns free memory of the system allocator to the operating system, including memory between allocations. Has no
/// effect if the C library is not glibc.
#[allow(unsafe_code, reason = "glibc has no other interface for this")]
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            /// glibc's function. The argument is the number of bytes that stay free at the end of the heap.
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: the function has no preconditions, and other threads may allocate meanwhile.
        let _was_released = unsafe { malloc_trim(0) };
    }
}

/// Returns the number of allocations of this thread. A reallocation counts as one, even if it does not move the memory.
/// Always 0 if the binary has another allocator.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Returns the number of bytes that this thread has allocated and not freed, modulo 2^64. Differences are
/// exact if no other thread frees this thread's memory. Always 0 if the binary has another allocator.
pub fn allocated_bytes() -> u64 {
    ALLOCATED_BYTES.get()
}

/// The system allocator, with counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

fn count(allocated: usize, freed: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get().wrapping_add(1));
    ALLOCATED_BYTES.set(ALLOCATED_BYTES.get().wrapping_add(allocated as u64).wrapping_sub(freed as u64));
}

#[allow(unsafe_code, reason = "GlobalAlloc is an unsafe trait; all calls are forwarded to the system allocator")]
// SAFETY: every function forwards its arguments to the system allocator, which fulfils the contract, and returns its
// result. Counting allocates nothing and cannot unwind.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get().wrapping_sub(layout.size() as u64));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}
