//! Cursors of paged lists: opaque to clients, and good for one list in one state only.
//!
//! A cursor is a page number and a hash over the kind of the list, all its keys in order, the page size and that
//! number. So a cursor of another list, of an earlier state of this one, or of nobody's making is recognised without a
//! memory of those that were given out; and every node and every start of a server that has the same list takes the
//! same cursors.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// A hash over what a list is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// Of a list of this kind, in pages of this size.
    pub(crate) fn of<'a>(kind: &str, page_size: usize, keys: impl Iterator<Item = &'a str>) -> Self {
        let start = Self(0xcbf2_9ce4_8422_2325).and(kind.as_bytes()).and(&page_size.to_le_bytes());
        keys.fold(start, |hash, key| hash.and(key.as_bytes()))
    }

    /// FNV-1a over the length and the bytes: the same on every machine. It guards against mistakes; whoever forges a
    /// cursor gets a page that they could have had without.
    fn and(self, bytes: &[u8]) -> Self {
        let length = (bytes.len() as u64).to_le_bytes();
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(length.iter().chain(bytes).fold(self.0, fold))
    }

    /// The cursor of a page, counted from 0.
    pub(crate) fn cursor(self, page: u32) -> String {
        let number = page.to_le_bytes();
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&number);
        bytes[4..].copy_from_slice(&self.and(&number).0.to_le_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The page that a cursor of this list names.
    pub(crate) fn page(self, cursor: &str) -> Option<u32> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let page = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        (self.cursor(page) == cursor).then_some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, size: usize, keys: &[&str]) -> Fingerprint {
        Fingerprint::of(kind, size, keys.iter().copied())
    }

    #[test]
    fn a_cursor_leads_back_to_its_page() {
        let list = of("tools", 10, &["a", "b"]);
        for page in [0, 1, 7, u32::MAX] {
            assert_eq!(list.page(&list.cursor(page)), Some(page));
        }
    }

    #[test]
    fn a_cursor_of_another_list_or_state_leads_nowhere() {
        let cursor = of("tools", 10, &["a", "b"]).cursor(1);
        for other in [
            of("prompts", 10, &["a", "b"]),
            of("tools", 11, &["a", "b"]),
            of("tools", 10, &["b", "a"]),
            of("tools", 10, &["ab"]),
            of("tools", 10, &["a", "b", "c"]),
        ] {
            assert_eq!(other.page(&cursor), None);
        }
    }

    #[test]
    fn what_nobody_gave_out_leads_nowhere() {
        let list = of("tools", 10, &["a", "b"]);
        let cursor = list.cursor(1);
        let mut forged = cursor.clone();
        forged.replace_range(..1, if cursor.starts_with('A') { "B" } else { "A" });
        for bogus in ["", "bogus", "AAAAAAAAAAAAAAAA", &forged, &format!("{cursor}="), &cursor[1..]] {
            assert_eq!(list.page(bogus), None, "{bogus}");
        }
    }
}
