//! Shortening of failing histories: delta debugging (Zeller and Hildebrandt's `ddmin`), then single steps.

/// Returns a shorter list for which `fails` still returns true. Calls `fails` at most `attempts` times.
pub fn shrink<T: Clone>(list: &[T], mut attempts: usize, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut list = list.to_vec();
    let mut size = list.len().div_ceil(2);
    while size > 0 {
        let mut shorter = false;
        // From the end, because other steps rarely depend on the last ones.
        let mut end = list.len();
        while end > 0 && attempts > 0 {
            let start = end.saturating_sub(size);
            let candidate: Vec<T> = [&list[..start], &list[end..]].concat();
            attempts -= 1;
            if fails(&candidate) {
                list = candidate;
                shorter = true;
            }
            end = start.min(list.len());
        }
        if attempts == 0 {
            break;
        }
        // Single steps are tried until none can be removed.
        if size > 1 || !shorter {
            size /= 2;
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn only_necessary_steps_remain() {
        let list: Vec<u32> = (0..1000).collect();
        let needed = [17, 400, 401, 999];
        let short = shrink(&list, usize::MAX, |list| needed.iter().all(|n| list.contains(n)));
        assert_eq!(short, needed);
    }

    #[test]
    fn dependent_steps_are_removed_one_by_one() {
        // An even step can be removed only after the odd step that follows it.
        let list: Vec<u32> = (0..40).collect();
        let fails =
            |list: &[u32]| list.contains(&0) && list.iter().all(|n| n % 2 == 0 || *n == 1 || list.contains(&(n - 1)));
        assert_eq!(shrink(&list, usize::MAX, fails), [0]);
    }

    #[test]
    fn the_number_of_attempts_is_limited() {
        let list: Vec<u32> = (0..1000).collect();
        let mut calls = 0;
        shrink(&list, 10, |_| {
            calls += 1;
            false
        });
        assert_eq!(calls, 10);
    }
}
