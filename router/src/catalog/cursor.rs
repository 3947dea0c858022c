//! Cursors of paginated lists: opaque to clients, and valid as long as the list up to their position is unchanged.
//!
//! A cursor is a page number and a hash over the kind of the list, the page size, and the keys of all entries before
//! that page in order. So a cursor of another list, of a list that has changed before its position, or
//! a made-up one is detected without storing the cursors that were issued. Changes after its position do not matter:
//! the client has not seen that part yet. All nodes with the same list accept the same cursors, also after a restart;
//! the standard library's hashers do not guarantee this.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// A hash over a list up to a page.
///
/// The first bytes of a SHA-256: it detects mistakes, not forgery. A client that forges a cursor only gets a page that
/// it could have requested anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 8]);

impl Fingerprint {
    /// The fingerprints of a list of this kind and page size: one for the start, and one for the end of each full page.
    pub(crate) fn places<'a>(kind: &str, page_size: usize, keys: impl Iterator<Item = &'a str>) -> Vec<Self> {
        let mut hasher = Sha256::new();
        add(&mut hasher, kind.as_bytes());
        add(&mut hasher, &(page_size as u64).to_le_bytes());
        let mut places = vec![Self::of(&hasher)];
        for (at, key) in keys.enumerate() {
            add(&mut hasher, key.as_bytes());
            if (at + 1) % page_size == 0 {
                places.push(Self::of(&hasher));
            }
        }
        places
    }

    fn of(hasher: &Sha256) -> Self {
        let digest = hasher.clone().finalize();
        Self(std::array::from_fn(|at| digest[at]))
    }

    /// The cursor of the page, counted from 0, that begins here.
    pub(crate) fn cursor(self, page: u32) -> String {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&page.to_le_bytes());
        bytes[4..].copy_from_slice(&self.0);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The page that a cursor of the list with these places names.
    pub(crate) fn page(places: &[Self], cursor: &str) -> Option<usize> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let page = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let at = usize::try_from(page).ok()?;
        (places.get(at)?.cursor(page) == cursor).then_some(at)
    }
}

/// Adds a part with its length, so that parts cannot run together.
fn add(hasher: &mut Sha256, part: &[u8]) {
    hasher.update((part.len() as u64).to_le_bytes());
    hasher.update(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, size: usize, keys: &[&str]) -> Vec<Fingerprint> {
        Fingerprint::places(kind, size, keys.iter().copied())
    }

    fn cursor(places: &[Fingerprint], page: u32) -> String {
        places[page as usize].cursor(page)
    }

    #[test]
    fn a_cursor_leads_back_to_its_page() {
        let list = of("tools", 2, &["a", "b", "c", "d", "e"]);
        assert_eq!(list.len(), 3);
        for page in [0, 1, 2] {
            assert_eq!(Fingerprint::page(&list, &cursor(&list, page)), Some(page as usize));
        }
    }

    // C120
    #[test]
    fn a_cursor_is_good_as_long_as_the_list_up_to_its_place_is_unchanged() {
        let given = cursor(&of("tools", 2, &["a", "b", "c"]), 1);
        for same in [&["a", "b"][..], &["a", "b", "x", "y", "z"], &["a", "b", "c", "d"]] {
            assert_eq!(Fingerprint::page(&of("tools", 2, same), &given), Some(1), "{same:?}");
        }
        for (kind, size, keys) in [
            ("prompts", 2, &["a", "b", "c"][..]),
            ("tools", 3, &["a", "b", "c"]),
            ("tools", 2, &["b", "a", "c"]),
            ("tools", 2, &["ab", "c"]),
            ("tools", 2, &["x", "a", "b", "c"]),
            ("tools", 2, &["b", "c"]),
            ("tools", 2, &["a"]),
            ("tools", 2, &[]),
        ] {
            assert_eq!(Fingerprint::page(&of(kind, size, keys), &given), None, "{kind} {size} {keys:?}");
        }
    }

    #[test]
    fn a_cursor_is_the_same_on_every_machine_and_in_every_build() {
        assert_eq!(cursor(&of("tools", 2, &["a", "b", "c"]), 1), "AQAAAK8Z_-Nfx8WH");
    }

    #[test]
    fn what_nobody_gave_out_leads_nowhere() {
        let list = of("tools", 1, &["a", "b"]);
        let cursor = cursor(&list, 1);
        let mut forged = cursor.clone();
        forged.replace_range(..1, if cursor.starts_with('A') { "B" } else { "A" });
        for bogus in ["", "bogus", "AAAAAAAAAAAAAAAA", &forged, &format!("{cursor}="), &cursor[1..]] {
            assert_eq!(Fingerprint::page(&list, bogus), None, "{bogus}");
        }
    }
}
