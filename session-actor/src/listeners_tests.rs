use futures_util::FutureExt;

use super::*;

fn resource(uri: &str) -> Change {
    Change::Resource(uri.to_owned().into())
}

#[test]
fn a_listener_hears_what_it_asked_for_once_each_however_often_it_is_told() {
    let listeners = Listeners::default();
    let listener = Arc::<Listener>::default();
    listeners.add(&listener, &[Change::Tools, resource("mem://a")]);
    for n in 0..1_000 {
        for change in [Change::Tools, Change::Prompts, resource("mem://a"), resource(&format!("mem://{n}"))] {
            listeners.tell(&change);
        }
    }
    assert_eq!(listener.take(), BTreeSet::from([Change::Tools, resource("mem://a")]));
    assert_eq!(listener.take(), BTreeSet::new());
}

#[test]
fn what_a_listener_leaves_behind_is_nothing_and_others_stay() {
    let listeners = Listeners::default();
    let [first, second] = [(); 2].map(|()| Arc::<Listener>::default());
    let changes = [Change::Tools, resource("mem://a")];
    let name = listeners.add(&first, &changes);
    let other = listeners.add(&second, &[Change::Tools]);
    listeners.remove(name, &changes);
    listeners.tell(&Change::Tools);
    assert_eq!(first.take(), BTreeSet::new());
    assert_eq!(second.take(), BTreeSet::from([Change::Tools]));
    assert_eq!(Arc::strong_count(&first), 1);
    listeners.remove(other, &[Change::Tools]);
    assert!(listeners.is_empty());
}

#[test]
fn whoever_comes_after_the_end_is_ended_at_once() {
    let listeners = Listeners::default();
    let [before, after] = [(); 2].map(|()| Arc::<Listener>::default());
    listeners.add(&before, &[]);
    assert_eq!(before.ended().now_or_never(), None);
    listeners.end();
    listeners.add(&after, &[Change::Tools]);
    for listener in [before, after] {
        assert_eq!(listener.ended().now_or_never(), Some(()));
        assert_eq!(listener.change().now_or_never(), Some(false));
    }
}

/// A waker that tells the listeners of a change when it is woken: it would wait for ever for a lock that is held then.
struct Teller(Listeners);

impl std::task::Wake for Teller {
    fn wake(self: Arc<Self>) {
        self.0.tell(&Change::Prompts);
    }
}

#[test]
fn no_lock_is_held_while_a_listener_is_woken() {
    let teller = Arc::new(Teller(Listeners::default()));
    let listener = Arc::<Listener>::default();
    teller.0.add(&listener, &[Change::Tools, Change::Prompts]);
    let waker = Waker::from(teller.clone());
    let mut change = Box::pin(listener.change());
    assert!(change.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
    teller.0.tell(&Change::Tools);
    assert_eq!(change.now_or_never(), Some(true));
    assert_eq!(listener.take(), BTreeSet::from([Change::Tools, Change::Prompts]));
}

#[test]
fn changes_from_many_threads_lose_none_of_a_listener_that_comes_and_goes() {
    let listeners = Listeners::default();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let listeners = &listeners;
            scope.spawn(move || {
                let uri = resource(&format!("mem://{n}"));
                for _ in 0..2_000 {
                    let listener = Arc::<Listener>::default();
                    let changes = [Change::Tools, uri.clone()];
                    let name = listeners.add(&listener, &changes);
                    listeners.tell(&uri);
                    assert_eq!(listener.take().range(uri.clone()..).next(), Some(&uri));
                    listeners.tell(&Change::Tools);
                    assert!(listener.take().contains(&Change::Tools));
                    listeners.remove(name, &changes);
                }
            });
        }
    });
    assert!(listeners.is_empty());
}
