//! Every message a server sends fits the schema of the session's revision.
//!
//! Each example is started as a child process, a server with [`everything`] there is and the wire tests' server in a thread, and spoken to as a
//! client of each revision: everything it lists is called, read or got, and each line it
//! writes is judged by [`oracle`]. A tool that one gains needs a line in [`child::arguments`], or the test says so.

mod child;
mod everything;
#[expect(dead_code, reason = "the other tests change its limits")]
#[path = "../wire/fixture.rs"]
mod fixture;
mod oracle;
mod strength;

use child::Child;

macro_rules! fits {
    ($($test:ident: $server:expr, saying $methods:expr;)*) => {$(
        #[test]
        fn $test() {
            let mut server = $server;
            server.walk();
            // or it would be shown of messages that never came
            let methods: &[&str] = &$methods;
            for method in methods {
                server.hear(method);
            }
            server.stop();
        }
    )*};
}

const PROGRESS: &str = "notifications/progress";
const LOG: &str = "notifications/message";
const FORM: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";
const UPDATED: &str = "notifications/resources/updated";
const CHANGED: &str = "notifications/tools/list_changed";

fits! {
    every_message_of_calculator_fits_2024_11_05: Child::example("calculator", "2024-11-05"), saying [];
    every_message_of_calculator_fits_2025_03_26: Child::example("calculator", "2025-03-26"), saying [];
    every_message_of_calculator_fits_2025_06_18: Child::example("calculator", "2025-06-18"), saying [];
    every_message_of_calculator_fits_2025_11_25: Child::example("calculator", "2025-11-25"), saying [];
    every_message_of_calculator_fits_2026_07_28: Child::example("calculator", "2026-07-28"), saying [];
    // before 2025-06-18 there is no form, and the log of that tool comes after it
    every_message_of_feedback_fits_2024_11_05: Child::example("feedback", "2024-11-05"), saying [PROGRESS, SAMPLE];
    every_message_of_feedback_fits_2025_03_26: Child::example("feedback", "2025-03-26"), saying [PROGRESS, SAMPLE];
    every_message_of_feedback_fits_2025_06_18: Child::example("feedback", "2025-06-18"), saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_feedback_fits_2025_11_25: Child::example("feedback", "2025-11-25"), saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_feedback_fits_2026_07_28: Child::example("feedback", "2026-07-28"), saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_interview_fits_2025_11_25: Child::example("interview", "2025-11-25"), saying [PROGRESS, FORM];
    every_message_of_interview_fits_2026_07_28: Child::example("interview", "2026-07-28"), saying [PROGRESS, FORM];
    every_message_of_everything_fits_2024_11_05: Child::example("everything", "2024-11-05"), saying [PROGRESS, SAMPLE, LOG, UPDATED, CHANGED];
    every_message_of_everything_fits_2025_03_26: Child::example("everything", "2025-03-26"), saying [PROGRESS, SAMPLE, LOG, UPDATED, CHANGED];
    every_message_of_everything_fits_2025_06_18: Child::example("everything", "2025-06-18"), saying [PROGRESS, SAMPLE, FORM, LOG, UPDATED, CHANGED];
    every_message_of_everything_fits_2025_11_25: Child::example("everything", "2025-11-25"), saying [PROGRESS, SAMPLE, FORM, LOG, UPDATED, CHANGED];
    every_message_of_everything_fits_2026_07_28: Child::example("everything", "2026-07-28"), saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_all_there_is_fits_2024_11_05: everything("2024-11-05"), saying [PROGRESS, SAMPLE, LOG];
    every_message_of_all_there_is_fits_2025_03_26: everything("2025-03-26"), saying [PROGRESS, SAMPLE, LOG];
    every_message_of_all_there_is_fits_2025_06_18: everything("2025-06-18"), saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_all_there_is_fits_2025_11_25: everything("2025-11-25"), saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_all_there_is_fits_2026_07_28: everything("2026-07-28"), saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_the_fixture_fits_2024_11_05: fixture("2024-11-05"), saying [PROGRESS, SAMPLE, LOG, ROOTS, UPDATED, CHANGED];
    every_message_of_the_fixture_fits_2025_03_26: fixture("2025-03-26"), saying [PROGRESS, SAMPLE, LOG, ROOTS, UPDATED, CHANGED];
    every_message_of_the_fixture_fits_2025_06_18: fixture("2025-06-18"), saying [PROGRESS, SAMPLE, FORM, LOG, ROOTS, UPDATED, CHANGED];
    every_message_of_the_fixture_fits_2025_11_25: fixture("2025-11-25"), saying [PROGRESS, SAMPLE, FORM, LOG, ROOTS, UPDATED, CHANGED];
    every_message_of_the_fixture_fits_2026_07_28: fixture("2026-07-28"), saying [PROGRESS, SAMPLE, FORM, LOG, ROOTS];
}

fn everything(revision: &'static str) -> Child {
    Child::thread(everything::server, revision)
}

fn fixture(revision: &'static str) -> Child {
    Child::thread(fixture::server, revision)
}
