//! Files that flags, kubeconfigs and profiles name, read with a limit.
//!
//! A FIFO can block its reader forever, and a device such as `/dev/zero` has no end. Therefore only regular
//! files are read. Symbolic links are followed, because projected volumes (service account tokens) contain
//! them.

use std::fs::{self, File, FileType};
use std::io::Read;
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Maximum size of a file, in bytes. Kubernetes limits Secrets and ConfigMaps to 1 MiB, and CA bundles are
/// smaller.
pub const MAX_SIZE: u64 = 10 << 20;

/// Reads a regular file.
///
/// # Errors
/// Returns the reason, without the path: the file cannot be read, is not a regular file, or is too large.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error| format!("the file cannot be read: {error}");
    // `open` blocks on a FIFO, so the type is checked first. It is checked again after `open`, because the file may be
    // replaced in between.
    is_regular(fs::metadata(path).map_err(unreadable)?.file_type())?;
    let file = File::open(path).map_err(unreadable)?;
    is_regular(file.metadata().map_err(unreadable)?.file_type())?;
    let mut content = Vec::new();
    file.take(MAX_SIZE + 1).read_to_end(&mut content).map_err(unreadable)?;
    match content.len() as u64 > MAX_SIZE {
        true => Err(format!("the file is larger than {} MiB, the maximum", MAX_SIZE >> 20)),
        false => Ok(content),
    }
}

/// Reads a regular file of UTF-8 text.
///
/// # Errors
/// Returns the errors of [`read`], and an error for text in another encoding.
pub fn read_text(path: &Path) -> Result<String, String> {
    String::from_utf8(read(path)?).map_err(|_| "the file is not UTF-8 text".to_owned())
}

fn is_regular(file_type: FileType) -> Result<(), String> {
    let kind = match file_type {
        file if file.is_file() => return Ok(()),
        file if file.is_dir() => "a directory",
        #[cfg(unix)]
        file if file.is_fifo() => "a FIFO or a pipe",
        #[cfg(unix)]
        file if file.is_socket() => "a socket",
        _ => "a device",
    };
    Err(format!("this is {kind}; a regular file is required"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    /// A folder that is removed with the test.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("schedc-files-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _removed = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = Folder::new("kinds");
        let fifo = folder.0.join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let check = |path: &Path, expected: &str| assert_eq!(read(path).unwrap_err(), expected);
        check(&fifo, "this is a FIFO or a pipe; a regular file is required");
        check(Path::new("/dev/zero"), "this is a device; a regular file is required");
        check(&folder.0, "this is a directory; a regular file is required");
        check(&folder.0.join("none"), "the file cannot be read: No such file or directory (os error 2)");
        // A link to an endless device is refused too.
        let link = folder.0.join("link");
        symlink("/dev/zero", &link).unwrap();
        check(&link, "this is a device; a regular file is required");
    }

    /// The kubelet writes each version of a projected volume into a new folder, and then points the link `..data` to
    /// it.
    #[test]
    fn links_of_projected_volumes_are_followed() {
        let folder = Folder::new("projected");
        fs::create_dir(folder.0.join("..2026")).unwrap();
        fs::write(folder.0.join("..2026/token"), "secret").unwrap();
        symlink("..2026", folder.0.join("..data")).unwrap();
        symlink("..data/token", folder.0.join("token")).unwrap();
        assert_eq!(read(&folder.0.join("token")).unwrap(), b"secret");
    }

    #[test]
    fn large_files_are_not_read() {
        let folder = Folder::new("large");
        let path = folder.0.join("file");
        let file = File::create(&path).unwrap();
        file.set_len(MAX_SIZE).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, MAX_SIZE);
        file.set_len(1 << 30).unwrap();
        assert_eq!(read(&path).unwrap_err(), "the file is larger than 10 MiB, the maximum");
    }

    #[test]
    fn text_is_utf_8() {
        let folder = Folder::new("text");
        let path = folder.0.join("file");
        fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_text(&path).unwrap_err(), "the file is not UTF-8 text");
    }
}
