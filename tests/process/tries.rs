//! The lines of curl that examples print are answered, and are those that the documentation shows.

use crate::served::{Served, over_http};

/// An example over HTTP, and what it printed after its URL, with the address that the documentation has.
fn printed(name: &str, lines: usize) -> (Served, Vec<String>) {
    let served = Served::start(over_http(name));
    let lines = (0..lines).map(|_| served.line().replace(&served.addr, "127.0.0.1:8080")).collect();
    (served, lines)
}

/// The line of curl behind what is said before it, as documentation shows it.
fn shown(line: &str, options: &str) -> String {
    let (_, curl) = line.split_once(": curl ").expect("a line of curl");
    format!("curl {options} {curl}")
}

#[test]
fn a_client_that_can_be_asked_is_asked_and_its_answers_go_with_the_same_request() {
    const SHOWN: &str = include_str!("../../examples/interview.rs");
    let (served, lines) = printed("interview", 3);
    let [hello, ask, answer] = &lines[..] else { panic!("three lines") };
    assert!(hello.starts_with("try: ") && hello.contains(r#""capabilities":{"elicitation":{}}"#), "{hello}");
    for (line, shown) in [(ask, shown(ask, "-s")), (answer, shown(answer, "-s").replace("STATE", "'$STATE'"))]
    {
        assert!(SHOWN.contains(&shown), "not shown as printed: {line}");
    }
    let asked = served.answer_to(ask, None);
    assert!(asked.contains(r#""resultType":"input_required""#), "{asked}");
    let state = asked.split(r#""requestState":""#).nth(1).and_then(|rest| rest.split('"').next());
    let state = format!("\"{}\"", state.expect("a state"));
    let done = served.answer_to(&answer.replace("\"STATE\"", &state), None);
    assert!(done.contains(r#""text":"a badge for Ada, in red""#), "{done}");
}

#[test]
fn a_client_that_listens_is_told_what_it_will_hear_of() {
    const SHOWN: &str = include_str!("../../router/src/serve/handle.rs");
    let (served, lines) = printed("feedback", 2);
    let listen = lines.last().expect("two lines");
    assert!(SHOWN.contains(&shown(listen, "-N")), "not shown as printed: {listen}");
    let told = served.answer_to(listen, Some("\n\n"));
    let acknowledged = SHOWN.lines().find_map(|line| line.strip_prefix("/// data: ")).expect("an answer");
    assert!(told.contains(acknowledged), "{told}");
}
