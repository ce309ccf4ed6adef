//! The directory of a relay's own certificates. A configured one stays, so that clients that pinned a certificate can reconnect after a restart; a
//! temporary one is removed when the relay ends.
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A directory that only this user can read.
pub(super) struct Directory {
    path: PathBuf,
    temporary: bool,
}

impl Directory {
    /// Opens the given directory, or makes a temporary one.
    pub(super) fn open(given: Option<&Path>) -> std::io::Result<Self> {
        let name = || std::env::temp_dir().join(format!("parley-media-{:016x}", rand::random::<u64>()));
        let path = given.map_or_else(name, Path::to_path_buf);
        DirBuilder::new().recursive(given.is_some()).mode(0o700).create(&path)?;
        Ok(Self { path, temporary: given.is_none() })
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_temporary_directory_is_private_and_is_removed_when_dropped() {
        let one = Directory::open(None).unwrap();
        let path = one.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::create_dir(path.join("current")).unwrap();
        let other = Directory::open(None).unwrap();
        assert_ne!(other.path(), path);
        drop(one);
        assert!(!path.exists());
        std::fs::create_dir(&path).unwrap();
        drop(Directory::open(Some(&path)).unwrap());
        assert!(path.exists());
        std::fs::remove_dir(&path).unwrap();
    }
}
