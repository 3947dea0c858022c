use std::sync::Arc;

use futures_util::{FutureExt, future::join_all};
use serde_json::json;

use super::*;
use crate::{
    fake::{ALL, Fake},
    wire::{
        era::Revision::{self, V2024_11_05, V2025_11_25},
        id::RequestId,
    },
};

fn wanted(revision: Revision) -> (Arc<Fake>, Progress) {
    let fake = Fake::new(revision, ALL);
    let progress = Progress::new(&fake.call(Some("p".into())));
    (fake, progress)
}

fn values(fake: &Fake) -> Vec<String> {
    fake.notes().iter().map(|note| note["params"]["progress"].to_string()).collect()
}

#[tokio::test]
async fn a_report_is_one_notification_with_what_was_given() {
    let (fake, progress) = wanted(V2025_11_25);
    progress.report(1).await.unwrap();
    progress.report(2.5).total(10).message("half\u{2028}way").await.unwrap();
    let head = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","#;
    assert_eq!(fake.sent()[0], format!(r#"{head}"progress":1}}}}"#));
    assert_eq!(fake.notes()[1]["params"]["message"], "half\u{2028}way");
    assert_eq!(fake.notes()[1]["params"]["total"], 10);
    assert!(!fake.sent()[1].contains('\u{2028}'), "a reader may take it for the end of the line");
}

#[tokio::test]
async fn a_token_comes_back_with_the_type_and_value_it_came_with() {
    let tokens: [RequestId; 7] = [
        0_i64.into(),
        "".into(),
        "7".into(),
        7_i64.into(),
        9_007_199_254_740_993_i64.into(),
        (-1_i64).into(),
        u64::MAX.into(),
    ];
    let texts = ["0", r#""""#, r#""7""#, "7", "9007199254740993", "-1", "18446744073709551615"];
    for (token, text) in tokens.into_iter().zip(texts) {
        let fake = Fake::new(V2025_11_25, ALL);
        Progress::new(&fake.call(Some(token))).report(1).await.unwrap();
        assert!(fake.sent()[0].contains(&format!(r#""progressToken":{text},"#)), "{}", fake.sent()[0]);
    }
}

#[tokio::test]
async fn without_a_token_nothing_is_sent_and_nothing_fails() {
    let fake = Fake::with_room(V2025_11_25, ALL, 0);
    let progress = Progress::new(&fake.call(None));
    assert!(!progress.is_wanted());
    progress.report(5).await.unwrap();
    progress.report(3).message("less").await.unwrap();
    progress.try_report(f64::NAN).unwrap();
    assert!(fake.sent().is_empty());
}

#[tokio::test]
async fn a_value_that_does_not_increase_is_refused_and_not_sent() {
    let (fake, progress) = wanted(V2025_11_25);
    progress.report(5).await.unwrap();
    for value in [5.0, 3.0, 4.999, -1.0] {
        let error = progress.report(value).await.unwrap_err();
        assert!(matches!(error, ProgressError::NotIncreasing { .. }), "{error}");
    }
    assert_eq!(progress.try_report(3), Err(ProgressError::NotIncreasing { value: 3.into(), last: 5.into() }));
    progress.report(5.5).await.unwrap();
    assert_eq!(values(&fake), ["5", "5.5"]);
}

#[tokio::test]
async fn an_infinite_value_or_total_is_refused_and_takes_no_value() {
    let (fake, progress) = wanted(V2025_11_25);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(progress.report(value).await, Err(ProgressError::NotFinite(_))));
        assert!(matches!(progress.report(1).total(value).now(), Err(ProgressError::NotFinite(_))));
    }
    assert!(fake.sent().is_empty());
    progress.report(-7).await.unwrap();
    assert_eq!(values(&fake), ["-7"]);
}

#[tokio::test]
async fn whole_numbers_are_written_without_a_fraction() {
    let (fake, progress) = wanted(V2025_11_25);
    progress.try_report(3.0_f32).unwrap();
    progress.try_report(4_usize).unwrap();
    progress.try_report(9_007_199_254_740_993_i64).unwrap();
    progress.try_report(u64::MAX).unwrap();
    assert_eq!(values(&fake), ["3", "4", "9007199254740993", "18446744073709551615"]);
}

#[tokio::test]
async fn the_oldest_revision_gets_no_message() {
    let (fake, progress) = wanted(V2024_11_05);
    progress.report(1).total(2).message("hidden").await.unwrap();
    assert_eq!(fake.notes()[0]["params"], json!({ "progressToken": "p", "progress": 1, "total": 2 }));
}

#[tokio::test]
async fn an_awaited_report_waits_for_room_and_one_sent_now_does_not() {
    let fake = Fake::with_room(V2025_11_25, ALL, 0);
    let progress = Progress::new(&fake.call(Some("p".into())));
    let mut waiting = progress.report(2);
    assert!((&mut waiting).now_or_never().is_none());
    progress.report(1).now().unwrap();
    assert_eq!(values(&fake), ["1"]);
    fake.add_room(1);
    waiting.await.unwrap();
    assert_eq!(values(&fake), ["1", "2"]);
}

#[tokio::test]
async fn a_report_that_waited_while_a_clone_went_past_it_is_refused() {
    let fake = Fake::with_room(V2025_11_25, ALL, 0);
    let progress = Progress::new(&fake.call(Some("p".into())));
    let mut waiting = progress.clone().report(1);
    assert!((&mut waiting).now_or_never().is_none());
    progress.try_report(2).unwrap();
    fake.add_room(1);
    assert_eq!(waiting.await, Err(ProgressError::NotIncreasing { value: 1.into(), last: 2.into() }));
    assert_eq!(values(&fake), ["2"]);
}

#[tokio::test]
async fn a_value_that_is_too_late_already_does_not_wait_for_room() {
    let fake = Fake::with_room(V2025_11_25, ALL, 0);
    let progress = Progress::new(&fake.call(Some("p".into())));
    progress.try_report(2).unwrap();
    let refused = progress.report(1).now_or_never();
    assert!(matches!(refused, Some(Err(ProgressError::NotIncreasing { .. }))));
}

#[tokio::test]
async fn a_report_dropped_while_it_waits_takes_no_value() {
    let fake = Fake::with_room(V2025_11_25, ALL, 0);
    let progress = Progress::new(&fake.call(Some("p".into())));
    assert!(progress.report(9).now_or_never().is_none());
    fake.add_room(1);
    progress.report(1).await.unwrap();
    assert_eq!(values(&fake), ["1"]);
}

#[test]
fn clones_on_many_threads_put_strictly_increasing_values_on_the_wire() {
    let (fake, progress) = wanted(V2025_11_25);
    std::thread::scope(|scope| {
        for first in 0..4 {
            let progress = progress.clone();
            scope.spawn(move || {
                let reports = (first..400).step_by(4).map(|value| progress.report(value));
                // the values that came too late are refused
                join_all(reports).now_or_never().unwrap();
            });
        }
    });
    let sent: Vec<u64> =
        fake.notes().iter().map(|note| note["params"]["progress"].as_u64().unwrap()).collect();
    assert!(sent.is_sorted_by(|a, b| a < b), "{sent:?}");
    assert_eq!(sent.last(), Some(&399));
}

#[tokio::test]
async fn a_call_that_ended_is_told_and_gets_nothing() {
    let (fake, progress) = wanted(V2025_11_25);
    fake.end();
    assert_eq!(progress.report(1).await, Err(ProgressError::Gone));
    assert_eq!(progress.try_report(1), Err(ProgressError::Gone));
    assert!(fake.sent().is_empty());
}

#[test]
fn what_a_handler_holds_may_go_to_an_actor() {
    fn sendable<T: Send + Sync + Clone + 'static>() {}
    fn sent<T: Send + 'static>(_: &T) {}
    sendable::<Progress>();
    let (_, progress) = wanted(V2025_11_25);
    sent(&progress.report(1));
}
