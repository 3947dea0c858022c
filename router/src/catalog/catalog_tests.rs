use serde_json::{Value, json};

use super::*;

const LATEST: Revision = Revision::LATEST_HANDSHAKE;

#[derive(Debug)]
struct Named(String);

impl Entry for Named {
    const LIST: &'static str = "things";

    fn key(&self) -> &str {
        &self.0
    }

    fn definition_json(&self, revision: Revision) -> serde_json::Result<Bytes> {
        to_json(&json!({ "name": self.0, "revision": revision.as_str() }))
    }
}

fn catalog(count: usize, page_size: Option<usize>) -> Catalog<Named> {
    let mut catalog = Catalog::default();
    if let Some(entries) = page_size {
        catalog.set_page_size(entries);
    }
    for number in 0..count {
        catalog.add(Named(format!("n{number}"))).unwrap();
    }
    catalog
}

fn page(catalog: &Catalog<Named>, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let page: Value = serde_json::from_slice(&catalog.page(LATEST, cursor).unwrap()).unwrap();
    let names =
        page["things"].as_array().unwrap().iter().map(|thing| thing["name"].as_str().unwrap().to_owned());
    let next = page.get("nextCursor").map(|next| next.as_str().unwrap().to_owned());
    (names.collect(), next)
}

#[test]
fn a_walk_over_the_pages_meets_each_entry_once_in_order() {
    let catalog = catalog(25, Some(10));
    let (mut all, mut next) = page(&catalog, None);
    assert_eq!(all.len(), 10);
    while let Some(cursor) = next {
        let (names, after) = page(&catalog, Some(&cursor));
        all.extend(names);
        next = after;
    }
    assert_eq!(all, (0..25).map(|number| format!("n{number}")).collect::<Vec<_>>());
}

#[test]
fn the_last_page_has_no_next_cursor_even_if_it_is_full() {
    assert_eq!(page(&catalog(10, Some(10)), None).1, None);
    assert_eq!(page(&catalog(0, Some(10)), None), (vec![], None));
    assert_eq!(page(&catalog(25, None), None).0.len(), 25);
}

#[test]
fn a_cursor_that_this_list_has_not_given_out_is_refused() {
    let list = catalog(25, Some(10));
    let given = page(&list, None).1.unwrap();
    let first = list.snapshot().places_of_pages(10)[0].cursor(0);
    let beyond = list.snapshot().places_of_pages(10)[2].cursor(3);
    for bogus in ["", "bogus", &first, &beyond] {
        let error = list.page(LATEST, Some(bogus)).unwrap_err();
        assert_eq!(error.code.0, -32602);
        assert!(error.message.contains("`cursor`"));
    }
    list.remove("n3").unwrap();
    assert!(list.page(LATEST, Some(&given)).is_err());
}

// C120
#[test]
fn a_cursor_stays_good_when_the_list_has_changed_behind_its_place() {
    let list = catalog(25, Some(10));
    let given = page(&list, None).1.unwrap();
    list.add(Named("n25".to_owned())).unwrap();
    list.remove("n12").unwrap();
    let (names, next) = page(&list, Some(&given));
    assert_eq!((names.len(), names[0].as_str(), names[2].as_str()), (10, "n10", "n13"));
    assert!(next.is_some());
    // as on another node, or after a start
    assert_eq!(page(&catalog(13, Some(10)), Some(&given)).0, ["n10", "n11", "n12"]);
    (10..26).for_each(|at| drop(list.remove(&format!("n{at}"))));
    assert_eq!(page(&list, Some(&given)), (vec![], None), "all behind it is gone");
    list.remove("n0").unwrap();
    assert!(list.page(LATEST, Some(&given)).is_err());
}

#[test]
fn a_key_is_taken_until_its_entry_is_removed() {
    let catalog = catalog(3, None);
    assert_eq!(catalog.add(Named("n1".to_owned())).unwrap_err().0, "n1");
    assert!(catalog.remove("n1").is_some());
    assert!(catalog.remove("n1").is_none());
    catalog.add(Named("n1".to_owned())).unwrap();
    assert_eq!(page(&catalog, None).0, ["n0", "n2", "n1"]);
    for name in ["n0", "n1", "n2"] {
        assert_eq!(catalog.get(name).unwrap().key(), name);
    }
}

#[test]
fn a_snapshot_stays_as_it_was() {
    let catalog = catalog(2, None);
    let before = catalog.snapshot();
    catalog.add(Named("n2".to_owned())).unwrap();
    catalog.remove("n0").unwrap();
    assert_eq!(before.iter().map(|entry| entry.key()).collect::<Vec<_>>(), ["n0", "n1"]);
    assert_eq!(page(&catalog, None).0, ["n1", "n2"]);
}

#[test]
fn a_page_is_encoded_once_and_again_after_a_change() {
    let catalog = catalog(2, None);
    let (one, same) = (catalog.page(LATEST, None).unwrap(), catalog.page(LATEST, None).unwrap());
    assert_eq!(one.as_ptr(), same.as_ptr());
    catalog.add(Named("n2".to_owned())).unwrap();
    assert_eq!(page(&catalog, None).0.len(), 3);
    let old = catalog.page(Revision::V2024_11_05, None).unwrap();
    assert!(std::str::from_utf8(&old).unwrap().contains("2024-11-05"));
}

#[test]
fn an_entry_is_dropped_outside_the_lock() {
    struct Reads(&'static str, Arc<OnceLock<Arc<Catalog<Reads>>>>);
    impl std::fmt::Debug for Reads {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
    }
    impl Entry for Reads {
        const LIST: &'static str = "things";
        fn key(&self) -> &str {
            self.0
        }
        fn definition_json(&self, _: Revision) -> serde_json::Result<Bytes> {
            Ok(Bytes::from_static(b"{}"))
        }
    }
    impl Drop for Reads {
        fn drop(&mut self) {
            if let Some(catalog) = self.1.get() {
                assert!(catalog.snapshot.try_read().is_ok(), "the lock is held");
            }
        }
    }
    let handle = Arc::new(OnceLock::new());
    let catalog = Arc::new(Catalog::default());
    catalog.add(Reads("a", Arc::clone(&handle))).unwrap();
    handle.set(Arc::clone(&catalog)).unwrap();
    drop(catalog.add(Reads("a", Arc::clone(&handle))).unwrap_err());
    drop(catalog.remove("a"));
}
