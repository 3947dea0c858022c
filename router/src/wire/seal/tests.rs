use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;

fn seal_of(keys: &[u8]) -> Seal {
    let mut seal = Seal::default();
    seal.set_keys(keys.iter().map(|key| [*key; 32].into()));
    seal
}

fn bound() -> Binding {
    Binding::new("shop", Some(&Principal::new("ann")), "tools/call", "order", Some(r#"{"item":"tea"}"#))
}

fn is_refused<T: fmt::Debug>(opened: Result<T, McpError>) {
    let error = opened.unwrap_err();
    assert_eq!(
        (error.code.0, &*error.message, error.data.is_none()),
        (-32602, "`requestState` is not valid for this request", true)
    );
}

#[test]
fn what_was_sealed_is_opened_and_says_nothing_of_what_it_holds() {
    let seal = seal_of(&[1]);
    let state = seal.seal(b"the secret of the shop", &bound()).unwrap();
    assert_eq!(seal.open(&state, bound).unwrap(), b"the secret of the shop");
    let bytes = URL_SAFE_NO_PAD.decode(&state).unwrap();
    assert!(!bytes.windows(6).any(|part| part == b"secret"));
    let again = seal.seal(b"the secret of the shop", &bound()).unwrap();
    assert_ne!(state, again, "no nonce is used twice");
}

#[test]
fn every_key_of_the_ring_opens_and_the_first_one_seals() {
    let old = seal_of(&[1]).seal(b"x", &bound()).unwrap();
    let both = seal_of(&[2, 1]);
    assert_eq!(both.open(&old, bound).unwrap(), b"x");
    let new = both.seal(b"y", &bound()).unwrap();
    assert_eq!(seal_of(&[2]).open(&new, bound).unwrap(), b"y");
    is_refused(seal_of(&[1]).open(&new, bound));
    is_refused(seal_of(&[3]).open(&old, bound));
}

#[test]
fn a_process_without_a_key_makes_one_of_its_own() {
    let seal = Seal::default();
    let state = seal.seal(b"x", &bound()).unwrap();
    assert_eq!(seal.open(&state, bound).unwrap(), b"x");
    is_refused(Seal::default().open(&state, bound));
    let mut none = Seal::default();
    none.set_keys([]);
    is_refused(none.open(&state, bound));
}

#[test]
fn a_state_is_good_for_its_own_request_only() {
    let seal = seal_of(&[1]);
    let state = seal.seal(b"x", &bound()).unwrap();
    let arguments = Some(r#"{"item":"tea"}"#);
    for other in [
        Binding::new("shop2", Some(&Principal::new("ann")), "tools/call", "order", arguments),
        Binding::new("shop", Some(&Principal::new("bob")), "tools/call", "order", arguments),
        Binding::new("shop", Some(&Principal::new("")), "tools/call", "order", arguments),
        Binding::new("shop", None, "tools/call", "order", arguments),
        Binding::new(
            "shop",
            Some(&Principal::new("ann").with_client("app")),
            "tools/call",
            "order",
            arguments,
        ),
        Binding::new("shop", Some(&Principal::new("ann")), "prompts/get", "order", arguments),
        Binding::new("shop", Some(&Principal::new("ann")), "tools/call", "orde", arguments),
        Binding::new("shop", Some(&Principal::new("ann")), "tools/callo", "rder", arguments),
        Binding::new("shop", Some(&Principal::new("ann")), "tools/call", "order", Some(r#"{"item":"tee"}"#)),
        Binding::new("shop", Some(&Principal::new("ann")), "tools/call", "order", None),
    ] {
        is_refused(seal.open(&state, || other));
    }
    let same = Binding::new(
        "shop",
        Some(&Principal::new("ann")),
        "tools/call",
        "order",
        Some(r#"{ "item": "te\u0061" }"#),
    );
    assert!(seal.open(&state, || same).is_ok(), "the same arguments, written anew");
    let none = Binding::new("", None, "", "", None);
    let empty = Binding::new("", None, "", "", Some("{ }"));
    assert!(seal.open(&seal.seal(b"", &none).unwrap(), || empty).is_ok());
}

#[test]
fn a_state_is_good_until_it_expires() {
    static NOW: AtomicU64 = AtomicU64::new(1_000);
    let mut seal = seal_of(&[1]);
    seal.clock = Arc::new(|| UNIX_EPOCH + Duration::from_secs(NOW.load(Ordering::SeqCst)));
    let state = seal.seal(b"x", &bound()).unwrap();
    NOW.store(1_599, Ordering::SeqCst);
    assert!(seal.open(&state, bound).is_ok());
    NOW.store(1_600, Ordering::SeqCst);
    is_refused(seal.open(&state, bound));
}

#[test]
fn a_state_has_a_largest_size_either_way() {
    let mut seal = seal_of(&[1]);
    seal.limits = StateLimits { sent: 100, accepted: 90, ..StateLimits::default() };
    // 1 + 24 + 8 + 16 bytes beside the text, in base64
    assert_eq!(seal.seal(&[0; 26], &bound()).unwrap().len(), 100);
    assert!(matches!(seal.seal(&[0; 27], &bound()), Err(Unsealed::TooLarge(102))));
    let fits = seal.seal(&[0; 18], &bound()).unwrap();
    assert_eq!(fits.len(), 90);
    assert!(seal.open(&fits, bound).is_ok());
    is_refused(seal.open(&seal.seal(&[0; 19], &bound()).unwrap(), bound));
}

#[test]
fn a_state_that_was_cut_or_changed_at_any_place_is_refused() {
    let seal = seal_of(&[1]);
    let state = seal.seal(b"x", &bound()).unwrap();
    for at in 0..state.len() {
        is_refused(seal.open(&state[..at], bound));
    }
    let bytes = URL_SAFE_NO_PAD.decode(&state).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        is_refused(seal.open(&URL_SAFE_NO_PAD.encode(changed), bound));
    }
    is_refused(seal.open(&format!("{state}-TAMPERED"), bound));
    is_refused(seal.open(&"A".repeat(1 << 20), bound));
}

#[test]
fn what_cannot_be_ours_is_refused_without_a_look_at_the_arguments_beside_it() {
    let seal = seal_of(&[1]);
    let state = seal.seal(b"x", &bound()).unwrap();
    let never = || -> Binding { panic!("all arguments were looked at") };
    let short = URL_SAFE_NO_PAD.encode([&[VERSION][..], &[7; NONCE + EXPIRY + TAG - 1]].concat());
    let other = URL_SAFE_NO_PAD.encode([&[VERSION + 1][..], &[7; 100]].concat());
    for garbage in ["", "x", &"A".repeat(1 << 20), &format!("{state}\u{e9}"), &state[..20], &short, &other] {
        is_refused(seal.open(garbage, never));
    }
}

#[test]
fn a_key_of_a_secret_is_the_same_wherever_it_is_made() {
    let one = StateKey::from("secret");
    let hex: String = one.key.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(one.key, StateKey::from("secret".to_owned()).key);
    assert_ne!(one.key, StateKey::from("secret ").key);
    assert_eq!(hex, "bbed02fbc218b21932614ec959ebdb83fb1ef64efbede4d5386ad841f31bb7de");
}

proptest! {
    #[test]
    fn nothing_makes_opening_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in ".*") {
        let seal = seal_of(&[1, 2]);
        is_refused(seal.open(&URL_SAFE_NO_PAD.encode(&bytes), bound));
        let ours = [&[VERSION][..], &bytes].concat();
        is_refused(seal.open(&URL_SAFE_NO_PAD.encode(ours), bound));
        is_refused(seal.open(&text, bound));
    }

    #[test]
    fn any_text_comes_back(text in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        let seal = seal_of(&[1]);
        let state = seal.seal(&text, &bound()).unwrap();
        prop_assert_eq!(seal.open(&state, bound).unwrap(), text);
    }
}
