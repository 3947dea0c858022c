//! Every message the examples send fits the schema of the session's revision.
//!
//! Each example is started as a child process and spoken to as a client of each of the four revisions with a
//! handshake: everything it lists is called, read or got, and each line it writes is judged by [`oracle`]. A tool
//! that an example gains needs a line in [`child::arguments`], or the test says so.

mod child;
mod oracle;
mod strength;

use child::Child;

macro_rules! fits {
    ($($test:ident: $example:literal at $revision:literal, saying $methods:expr;)*) => {$(
        #[test]
        fn $test() {
            let mut server = Child::start($example, $revision);
            server.walk();
            // or it would be shown of messages that never came
            let methods: &[&str] = &$methods;
            for method in methods {
                assert!(server.said.contains(*method), "no {method} among {:?}", server.said);
            }
            server.stop();
        }
    )*};
}

const PROGRESS: &str = "notifications/progress";
const LOG: &str = "notifications/message";
const FORM: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";

fits! {
    every_message_of_calculator_fits_2024_11_05: "calculator" at "2024-11-05", saying [];
    every_message_of_calculator_fits_2025_03_26: "calculator" at "2025-03-26", saying [];
    every_message_of_calculator_fits_2025_06_18: "calculator" at "2025-06-18", saying [];
    every_message_of_calculator_fits_2025_11_25: "calculator" at "2025-11-25", saying [];
    // before 2025-06-18 there is no form, and the log of that tool comes after it
    every_message_of_feedback_fits_2024_11_05: "feedback" at "2024-11-05", saying [PROGRESS, SAMPLE];
    every_message_of_feedback_fits_2025_03_26: "feedback" at "2025-03-26", saying [PROGRESS, SAMPLE];
    every_message_of_feedback_fits_2025_06_18: "feedback" at "2025-06-18", saying [PROGRESS, SAMPLE, FORM, LOG];
    every_message_of_feedback_fits_2025_11_25: "feedback" at "2025-11-25", saying [PROGRESS, SAMPLE, FORM, LOG];
}
