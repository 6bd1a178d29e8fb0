//! The system's allocator, counting how often a thread asks it for memory, and how much it has.
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
//! It counts all the time, so it has to cost nothing: two numbers for each thread that are added to in place. Crates that
//! count (`stats_alloc`, `cap`, `allocation-counter`, `dhat`) do several atomic operations, or go through a `RefCell`, for
//! every allocation and deallocation, whether anybody wants to know or not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Without a destructor and without lazy initialisation: reading and writing it asks for no memory, at any time.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static ALLOCATED_BYTES: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread has asked for memory: allocations, and reallocations, which may move. 0 for ever if the binary
/// has another allocator.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// How many bytes this thread has asked for and not given back, modulo 2^64: differences count, as long as no other thread
/// gives back what this one asked for. 0 for ever if the binary has another allocator.
pub fn allocated_bytes() -> u64 {
    ALLOCATED_BYTES.get()
}

/// The system's allocator, counting.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

fn count(more: usize, less: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get().wrapping_add(1));
    ALLOCATED_BYTES.set(ALLOCATED_BYTES.get().wrapping_add(more as u64).wrapping_sub(less as u64));
}

#[allow(unsafe_code, reason = "GlobalAlloc is an unsafe trait; everything is left to the system's allocator")]
// SAFETY: every function hands its arguments on to the system's allocator, which keeps the contract, and returns what it
// returns. Counting allocates nothing and cannot unwind.
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
