use futures_util::FutureExt;

use super::*;
use crate::budget::{STALL_TIMEOUT, no_room};

fn frame(budget: &Arc<ByteBudget>, bytes: impl AsRef<[u8]>) -> Frame {
    let bytes = Bytes::copy_from_slice(bytes.as_ref());
    Frame { bytes: bytes.clone(), room: budget.try_reserve(bytes.len()), droppable: true }
}

/// A queue with room for two messages.
fn small() -> (Arc<ByteBudget>, Sink, Source) {
    let budget = ByteBudget::tiny(20);
    let (sink, source) = queue(budget.clone());
    (budget, sink, source)
}

#[tokio::test(start_paused = true)]
async fn a_message_without_room_takes_the_place_of_the_oldest_which_is_counted() {
    let (budget, sink, mut source) = small();
    for text in [b"0000000000", b"1111111111", b"2222222222", b"3333333333"] {
        sink.push(frame(&budget, text));
    }
    assert_eq!((budget.dropped(), budget.stats().dropped()), (2, 2));
    sink.finish();
    assert_eq!(source.next().await.as_deref(), Some(&b"2222222222"[..]));
    assert_eq!(source.next().await.as_deref(), Some(&b"3333333333"[..]));
    assert_eq!(source.next().await, None);
    assert_eq!(budget.available(), 20, "all room is given back");
}

#[tokio::test(start_paused = true)]
async fn what_must_arrive_is_never_dropped_to_make_room() {
    let (budget, sink, mut source) = small();
    sink.push(Frame::kept(Bytes::from_static(b"answer")));
    for _ in 0..1_000 {
        sink.push(frame(&budget, b"0000000000"));
    }
    assert_eq!(source.next().await.as_deref(), Some(&b"answer"[..]));
    assert_eq!(sink.len(), 2, "however many were put in");
}

#[tokio::test(start_paused = true)]
async fn a_large_message_without_room_takes_the_place_of_several_and_what_it_does_not_need_is_free() {
    let (budget, sink, mut source) = small();
    for text in ["00000", "11111111111111", "222222"] {
        sink.push(frame(&budget, text));
    }
    assert_eq!((budget.dropped(), budget.available()), (2, 14), "6 of 20 are needed");
    assert_eq!(source.next().await.as_deref(), Some(&b"222222"[..]));
    assert_eq!(budget.available(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_made_way_no_longer_counts_as_waiting() {
    let (budget, sink, mut source) = small();
    for _ in 0..1_000 {
        sink.push(frame(&budget, b"0000000000"));
    }
    while source.try_next().is_some() {}
    assert!(sink.below(1, 1).now_or_never().is_some(), "nothing waits, so there is nothing to wait for");
}

#[tokio::test(start_paused = true)]
async fn a_message_waits_for_room_and_goes_without_only_when_nothing_moves_for_a_second() {
    let (budget, sink, mut source) = small();
    sink.push(frame(&budget, b"0000000000"));
    sink.push(frame(&budget, b"1111111111"));
    let start = Instant::now();
    let room = budget.clone().reserve(10).await;
    assert_eq!((room.0.is_none(), start.elapsed()), (true, STALL_TIMEOUT));

    let read = async {
        tokio::time::sleep(Duration::from_millis(900)).await;
        source.next().await
    };
    let (room, read) = futures_util::future::join(budget.clone().reserve(10), read).await;
    assert_eq!((room.0.is_some(), read.is_some()), (true, true));
}

/// Whether a loop without another wait in it lets others run.
async fn lets_others_run(turn: impl AsyncFn()) -> bool {
    let many = async {
        for _ in 0..10_000 {
            turn().await;
        }
    };
    futures_util::future::poll_immediate(std::pin::pin!(many)).await.is_none()
}

#[tokio::test(start_paused = true)]
async fn room_that_comes_back_at_once_and_room_that_nobody_has_are_waited_for_now_and_then() {
    let (budget, _sink, _source) = small();
    assert!(lets_others_run(async || drop(budget.clone().reserve(10).await)).await);
    tokio::task::yield_now().await;
    assert!(lets_others_run(async || drop(no_room().await)).await);
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_cut_gives_its_room_back_and_ends_for_both_sides() {
    let (budget, sink, mut source) = small();
    sink.push(frame(&budget, b"0000000000"));
    assert!(sink.stalls_in(STALL_TIMEOUT).is_some());
    sink.cut();
    assert_eq!(budget.available(), 20);
    assert_eq!(source.next().await, None);
    assert!(sink.gone().now_or_never().is_some());
    assert_eq!(sink.stalls_in(STALL_TIMEOUT), None);
    sink.push(frame(&budget, b"late"));
    assert_eq!((sink.len(), budget.available()), (0, 20));
}

#[tokio::test(start_paused = true)]
async fn the_writer_stands_still_from_the_last_message_it_took() {
    let (budget, sink, mut source) = small();
    tokio::time::sleep(STALL_TIMEOUT).await;
    sink.push(frame(&budget, b"0"));
    assert_eq!(sink.stalls_in(2 * STALL_TIMEOUT), Some(2 * STALL_TIMEOUT));
    tokio::time::sleep(STALL_TIMEOUT).await;
    sink.push(frame(&budget, b"1"));
    assert_eq!(
        (sink.stalls_in(2 * STALL_TIMEOUT), sink.stalls_in(STALL_TIMEOUT)),
        (Some(STALL_TIMEOUT), Some(Duration::ZERO))
    );
    source.next().await.unwrap();
    assert_eq!(sink.stalls_in(STALL_TIMEOUT), Some(STALL_TIMEOUT));
    source.next().await.unwrap();
    assert_eq!(sink.stalls_in(STALL_TIMEOUT), None);
}
