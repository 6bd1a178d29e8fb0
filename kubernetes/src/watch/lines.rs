//! A watch answers with one JSON object in each line. What arrives ends anywhere.

use memchr::memchr;

/// Puts together what arrives, and takes it apart at the ends of lines.
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to where no line ends.
    looked: usize,
}

/// A buffer that a large object has left behind is not kept.
const KEPT: usize = 64 * 1024;

impl Lines {
    /// Something arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.looked -= self.start;
            self.start = 0;
            if self.buffer.is_empty() && self.buffer.capacity() > KEPT {
                self.buffer = Vec::new();
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next line, without its end. Empty ones are left out.
    pub fn next_line(&mut self) -> Option<&[u8]> {
        loop {
            let Some(length) = memchr(b'\n', &self.buffer[self.looked..]) else {
                self.looked = self.buffer.len();
                return None;
            };
            let line = self.start..self.looked + length;
            self.start = line.end + 1;
            self.looked = self.start;
            if !line.is_empty() {
                return Some(&self.buffer[line]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text = b"{\"a\":1}\n\n{\"b\":\"x\"}\n{}\nrest";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            for chunk in text.chunks(size) {
                lines.push(chunk);
                while let Some(line) = lines.next_line() {
                    found.push(String::from_utf8(line.to_vec()).unwrap());
                }
            }
            assert_eq!(found, ["{\"a\":1}", "{\"b\":\"x\"}", "{}"], "{size}");
        }
    }

    #[test]
    fn what_a_large_object_needed_is_given_back() {
        let mut lines = Lines::default();
        lines.push(&vec![b'x'; 10 * KEPT]);
        lines.push(b"\n");
        assert_eq!(lines.next_line().map(<[u8]>::len), Some(10 * KEPT));
        lines.push(b"{}\n");
        assert!(lines.buffer.capacity() < KEPT);
        assert_eq!(lines.next_line(), Some(&b"{}"[..]));
    }
}
