//! The client is the test: it sends a request again, with answers, until there is a result.

use std::{
    sync::{
        Arc, Mutex as StdMutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

use anyhow::Context;
use futures_util::{
    FutureExt,
    future::{Either, join3, select, try_join},
    task::{ArcWake, waker},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::*;
use crate::{
    ask::{client::Client, sample::SamplingRequest},
    call::{CallContext, extract::Args, question_error::QuestionError},
    catalog::{completion::CompletionRequest, prompt::Prompt, resource::Resource, tool::Tool},
    fake::{ALL, Fake},
    serve::router::Router,
    wire::{
        content::{Content, ResourceContents},
        era::Revision,
        id::RequestId,
        jsonrpc::{Parameters, Request},
        peer::{ClientCapabilities, ClientCapability},
        principal::Principal,
        result_meta::Cache,
        seal::StateLimits,
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// What a request was answered with.
#[derive(Clone, Debug, PartialEq)]
enum Turn {
    Complete(Value),
    NewQuestion { requests: Map<String, Value>, state: String },
    Refused(i64, String),
}

impl Turn {
    #[track_caller]
    fn asks(self) -> (Map<String, Value>, String) {
        let shown = format!("{self:?}");
        let Self::NewQuestion { requests, state } = self else { panic!("no questions: {shown}") };
        (requests, state)
    }

    /// The text of a tool's result.
    #[track_caller]
    fn text(&self) -> &str {
        let Self::Complete(result) = self else { panic!("no result: {self:?}") };
        result["content"][0]["text"].as_str().unwrap()
    }

    #[track_caller]
    fn is_refused(&self, of: &str) {
        let refused = matches!(self, Self::Refused(-32602, message) if message.contains(of));
        assert!(refused, "not refused for {of}: {self:?}");
    }
}

/// A request, to be sent again and again.
#[derive(Clone)]
struct Chat {
    router: Arc<Router>,
    client: Arc<Fake>,
    principal: Option<&'static str>,
    method: &'static str,
    params: Value,
}

fn router(build: impl FnOnce(&mut Router)) -> Arc<Router> {
    let mut router = Router::new("shop", "1");
    router.settings_mut().seal.set_keys([[1; 32].into()]);
    build(&mut router);
    Arc::new(router)
}

fn chat(router: &Arc<Router>, tool: &str) -> Chat {
    Chat {
        router: router.clone(),
        client: Fake::new(Revision::LATEST, ALL),
        principal: None,
        method: "tools/call",
        params: json!({ "name": tool }),
    }
}

/// A conversation with the one tool of a server.
fn with(tool: Tool) -> Chat {
    let name = tool.name().to_owned();
    chat(&router(|router| router.tool(tool)), &name)
}

impl Chat {
    fn at(self, revision: Revision) -> Self {
        Self { client: Fake::new(revision, ALL), ..self }
    }

    fn declaring(self, capabilities: ClientCapabilities) -> Self {
        Self { client: Fake::new(self.client.peer().revision, capabilities), ..self }
    }

    fn dispatch(&self, state: Option<&str>, responses: Option<Value>) -> impl Future<Output = Turn> + use<> {
        let mut params = self.params.clone();
        if let Some(state) = state {
            params["requestState"] = state.into();
        }
        if let Some(responses) = responses {
            params["inputResponses"] = responses;
        }
        self.dispatch_raw(Parameters::read(params.to_string()).unwrap())
    }

    fn dispatch_raw(&self, params: Parameters) -> impl Future<Output = Turn> + use<> {
        let request = Request { id: RequestId::from(7_i64), method: self.method.into(), params };
        let call = self.client.call(None);
        let context = CallContext {
            peer: call.peer().clone(),
            link: self.client.clone(),
            cancelled: Default::default(),
            principal: self.principal.map(Principal::new),
            http: None,
        };
        self.router.dispatch(request, context).map(|reply| {
            let mut json: Value = serde_json::from_slice(&reply.json).unwrap();
            if let Some(error) = json.get("error") {
                assert_eq!(error["code"].as_i64(), reply.code.map(|code| code.0));
                let message = error["message"].as_str().unwrap();
                let data = error.get("data").map(|data| format!(" {data}")).unwrap_or_default();
                return Turn::Refused(error["code"].as_i64().unwrap(), format!("{message}{data}"));
            }
            let result = &mut json["result"];
            if result["resultType"] != "input_required" {
                return Turn::Complete(result.take());
            }
            assert!(result["_meta"].is_object() && result.get("ttlMs").is_none(), "{result}");
            let state = result["requestState"].as_str().unwrap().to_owned();
            let requests = result["inputRequests"].as_object().cloned().unwrap_or_default();
            Turn::NewQuestion { requests, state }
        })
    }

    #[track_caller]
    /// With these parameters, as text.
    fn raw(&self, params: &str) -> Turn {
        self.dispatch_raw(Parameters::read(params.to_owned()).unwrap()).now_or_never().expect("it is refused")
    }

    fn send(&self, state: Option<&str>, responses: Option<Value>) -> Turn {
        self.dispatch(state, responses).now_or_never().expect("the handler ends in a result or a question")
    }

    fn first(&self) -> Turn {
        self.send(None, None)
    }

    fn retry(&self, state: &str, responses: Value) -> Turn {
        self.send(Some(state), Some(responses))
    }

    /// Answers each form with its message as the name; the messages of each round, and the result.
    fn talk(&self) -> (Vec<Vec<String>>, Turn) {
        let mut rounds = Vec::new();
        let mut turn = self.first();
        while let Turn::NewQuestion { requests, state } = turn {
            let message = |asked: &Value| asked["params"]["message"].as_str().unwrap().to_owned();
            let answers: Map<_, _> =
                requests.iter().map(|(key, asked)| (key.clone(), named(&message(asked)))).collect();
            let mut messages: Vec<_> = requests.values().map(message).collect();
            messages.sort();
            rounds.push(messages);
            turn = self.retry(&state, answers.into());
        }
        (rounds, turn)
    }
}

fn named(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

async fn name(client: &Client, message: &str) -> Result<String, QuestionError> {
    client.elicit::<Name>(message).await.map(|form| form.name)
}

#[derive(Debug, thiserror::Error)]
enum Own {
    #[error("no answer: {0}")]
    Elicit(#[from] QuestionError),
}

#[test]
fn two_questions_in_a_row_take_three_rounds_whatever_the_handler_fails_with() {
    async fn text(client: Client) -> Result<String, String> {
        Ok(format!("{} {}", name(&client, "a?").await?, name(&client, "b?").await?))
    }
    async fn any(client: Client) -> anyhow::Result<String> {
        Ok(format!("{} {}", name(&client, "a?").await?, name(&client, "b?").await?))
    }
    async fn own(client: Client) -> Result<String, Own> {
        Ok(format!("{} {}", name(&client, "a?").await?, name(&client, "b?").await?))
    }
    async fn none(client: Client) -> String {
        let a = name(&client, "a?").await.ok().unwrap_or_default();
        let b = name(&client, "b?").await.unwrap_or_else(|_| String::new());
        format!("{a} {b}")
    }
    for tool in [Tool::new("t", text), Tool::new("t", any), Tool::new("t", own), Tool::new("t", none)] {
        let chat = with(tool);
        let (rounds, turn) = chat.talk();
        assert_eq!(rounds, [["a?"], ["b?"]]);
        assert_eq!(turn.text(), "a? b?");
        assert_eq!(chat.router.calls(), 3);
        // the same body in a session
        let chat = chat.at(Revision::LATEST_HANDSHAKE);
        chat.client.will_answer(named("1"));
        chat.client.will_answer(named("2"));
        assert_eq!(chat.first().text(), "1 2");
    }
}

#[test]
fn what_is_asked_is_what_a_session_would_be_asked() {
    async fn asks(client: Client) -> String {
        name(&client, "who?").await.unwrap_or_default()
    }
    let chat = with(Tool::new("t", asks));
    let (requests, _) = chat.first().asks();
    let (_, asked) = requests.into_iter().next().unwrap();
    assert_eq!(
        asked,
        json!({ "method": "elicitation/create", "params": { "message": "who?", "requestedSchema":
            { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] } } })
    );
    assert!(chat.client.asked().is_empty(), "no request of ours goes to the client");
}

#[test]
fn joined_questions_share_a_round_and_two_branches_of_two_take_three() {
    async fn joined(client: Client) -> Result<String, QuestionError> {
        let (a, b) = try_join(name(&client, "a?"), name(&client, "b?")).await?;
        Ok(format!("{a} {b}"))
    }
    async fn branch(client: &Client, of: &str) -> Result<String, QuestionError> {
        let first = name(client, &format!("{of}1")).await?;
        Ok(format!("{first} {}", name(client, &format!("{of}2")).await?))
    }
    async fn branches(client: Client) -> Result<String, QuestionError> {
        let (a, b) = try_join(branch(&client, "a"), branch(&client, "b")).await?;
        Ok(format!("{a} {b}"))
    }
    let (rounds, turn) = with(Tool::new("t", joined)).talk();
    assert_eq!((rounds, turn.text()), (vec![vec!["a?".to_owned(), "b?".to_owned()]], "a? b?"));
    let chat = with(Tool::new("t", branches));
    let (rounds, turn) = chat.talk();
    assert_eq!(rounds, [["a1", "b1"], ["a2", "b2"]]);
    assert_eq!((turn.text(), chat.router.calls()), ("a1 a2 b1 b2", 3));
}

#[test]
fn the_same_question_in_a_loop_is_asked_once_a_round_under_a_key_of_its_own() {
    async fn guess(client: Client) -> Result<String, QuestionError> {
        for tries in 1.. {
            if name(&client, "guess").await? == "right" {
                return Ok(tries.to_string());
            }
        }
        unreachable!()
    }
    let chat = with(Tool::new("t", guess));
    let mut turn = chat.first();
    let mut keys = Vec::new();
    for answer in ["wrong", "wrong", "right"] {
        let (requests, state) = turn.asks();
        let key = requests.keys().next().unwrap().clone();
        assert_eq!(requests.len(), 1);
        turn = chat.retry(&state, json!({ &key: named(answer) }));
        keys.push(key);
    }
    assert_eq!(turn.text(), "3");
    let base = keys[0].strip_suffix(".1").unwrap();
    assert_eq!(keys[1..], [format!("{base}.2"), format!("{base}.3")]);
    assert!(base.len() == 22 && !base.contains("guess"), "{base}");
}

#[test]
fn a_key_depends_on_what_is_asked_alone_and_never_changes_from_build_to_build() {
    let mut state = State::default();
    assert_eq!(state.key(None, "elicitation/create", b"{}"), "-5AKOVN3sWfZitB-i4rYpg.1");
    for (method, params) in
        [("roots/list", "{}"), ("elicitation/create", "{ }"), ("elicitation/create{}", "")]
    {
        assert!(state.key(None, method, params.as_bytes()).ends_with(".1"));
    }
    let mut keys = Vec::new();
    for name in ["a", "a", "a.2", "a.2", "a.2.1", "a.b", "a.", "b"] {
        keys.push(state.key(Some(name), "m", b""));
    }
    assert_eq!(keys, ["a", "a.2", "a.2.1", "a.2.2", "a.2.1.1", "a.b", "a.", "b"]);
}

#[test]
fn a_question_may_be_given_a_name() {
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let Name { name } = client.elicit("who?").key("user_name").await?;
        client.elicit_url("go", "https://example.com/").key("site").await?;
        let said = client.sample(SamplingRequest::text("?")).key("model").await.unwrap();
        let roots = client.roots().key("client_roots").await.unwrap();
        Ok(format!("{name} {} {}", said.text(), roots.len()))
    }
    let chat = with(Tool::new("t", asks));
    let (requests, state) = chat.first().asks();
    assert_eq!(requests["user_name"]["method"], "elicitation/create");
    let (requests, state) = chat.retry(&state, json!({ "user_name": named("Ada") })).asks();
    let url = json!({ "mode": "url", "message": "go", "url": "https://example.com/" });
    assert_eq!(requests["site"]["params"], url, "without an `elicitationId`");
    let (requests, state) = chat.retry(&state, json!({ "site": { "action": "accept" } })).asks();
    assert_eq!(requests["model"]["method"], "sampling/createMessage");
    let said = json!({ "role": "assistant", "content": { "type": "text", "text": "yes" }, "model": "m" });
    let (requests, state) = chat.retry(&state, json!({ "model": said })).asks();
    assert_eq!(requests["client_roots"], json!({ "method": "roots/list", "params": {} }));
    let roots = json!({ "roots": [{ "uri": "file:///test/root" }] });
    assert_eq!(chat.retry(&state, json!({ "client_roots": roots })).text(), "Ada yes 1");
}

#[test]
fn a_result_goes_before_a_question() {
    async fn races(client: Client) -> &'static str {
        let question = client.elicit::<Name>("who?");
        match select(question, std::future::ready(())).await {
            Either::Left(_) => "answered",
            Either::Right(_) => "not waited for",
        }
    }
    assert_eq!(with(Tool::new("t", races)).first().text(), "not waited for");
}

#[test]
fn a_question_whose_future_was_dropped_is_not_asked() {
    async fn changes_its_mind(client: Client) -> Result<String, QuestionError> {
        let mut first = client.elicit::<Name>("a?");
        assert!((&mut first).now_or_never().is_none());
        drop(first);
        name(&client, "b?").await
    }
    let (rounds, turn) = with(Tool::new("t", changes_its_mind)).talk();
    assert_eq!((rounds, turn.text()), (vec![vec!["b?".to_owned()]], "b?"));
}

#[test]
fn a_panic_in_what_a_handler_drops_at_its_question_is_an_internal_error() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("SECRET");
        }
    }
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let _guard = PanicsInDrop;
        name(&client, "who?").await
    }
    let turn = with(Tool::new("t", asks)).first();
    assert_eq!(turn, Turn::Refused(-32603, "internal error".to_owned()));
}

#[test]
fn a_question_in_a_round_waits_for_no_timeout_and_sends_nothing() {
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let form: Name = client.elicit("who?").timeout(Duration::ZERO).await?;
        client.close_stream();
        Ok(form.name)
    }
    let chat = with(Tool::new("t", asks));
    let (rounds, turn) = chat.talk();
    assert_eq!((rounds.len(), turn.text()), (1, "who?"));
    assert!(chat.client.asked().is_empty() && chat.client.sent().is_empty());
}

#[test]
fn what_the_user_did_reaches_the_handler() {
    async fn asks(client: Client) -> String {
        match client.elicit::<Name>("who?").key("q").await {
            Ok(form) => form.name,
            Err(error) => error.to_string(),
        }
    }
    let chat = with(Tool::new("t", asks));
    let (_, state) = chat.first().asks();
    for (answer, text) in [
        (json!({ "action": "decline", "content": { "junk": 1 } }), "the user declined"),
        (json!({ "action": "cancel" }), "the user cancelled"),
        (named("Ada"), "Ada"),
    ] {
        assert_eq!(chat.retry(&state, json!({ "q": answer })).text(), text);
    }
}

#[test]
fn an_answer_that_does_not_fit_is_refused_by_its_key_and_the_handler_cannot_hide_it() {
    async fn asks(client: Client) -> String {
        let (name, said, roots) = join3(
            client.elicit::<Name>("who?").key("name"),
            client.sample(SamplingRequest::text("?")).key("said"),
            client.roots().key("roots"),
        )
        .await;
        format!("{} {} {}", name.is_ok(), said.is_ok(), roots.is_ok())
    }
    let chat = with(Tool::new("t", asks));
    let (requests, state) = chat.first().asks();
    assert_eq!(requests.len(), 3);
    for (key, answer) in [
        ("name", json!(12345)),
        ("name", json!("yes")),
        ("name", Value::Null),
        ("name", json!({ "action": "accept" })),
        ("name", json!({ "action": "accept", "content": { "name": 7 } })),
        ("name", json!({ "action": "maybe" })),
        ("said", json!({ "role": "assistant" })),
        ("roots", json!({ "roots": [{ "uri": 7 }] })),
    ] {
        chat.retry(&state, json!({ key: answer })).is_refused(&format!("{key:?}"));
    }
}

#[test]
fn an_answer_that_fits_the_form_and_not_the_type_is_for_the_handler() {
    #[derive(Debug, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Even {
        n: u32,
    }
    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Err(serde::de::Error::custom("it is odd"))
        }
    }
    async fn asks(client: Client) -> String {
        client.elicit::<Even>("?").key("n").await.unwrap_err().to_string()
    }
    let chat = with(Tool::new("t", asks));
    let (_, state) = chat.first().asks();
    let answer = json!({ "n": { "action": "accept", "content": { "n": 3 } } });
    assert!(chat.retry(&state, answer).text().ends_with("it is odd"));
}

#[test]
fn what_is_missing_is_asked_again_and_what_was_never_asked_is_ignored() {
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let both = try_join(client.elicit::<Name>("a?").key("a"), client.elicit::<Name>("b?").key("b"));
        let (a, b) = both.await?;
        let c: Name = client.elicit("c?").key("c").await?;
        Ok(format!("{} {} {}", a.name, b.name, c.name))
    }
    let chat = with(Tool::new("t", asks));
    let (_, state) = chat.first().asks();
    for responses in [None, Some(Value::Null), Some(json!({})), Some(json!({ "wrong_key": named("x") }))] {
        let (requests, again) = chat.send(Some(&state), responses).asks();
        assert_eq!(requests.len(), 2);
        assert_ne!(again, state);
    }
    // `c` was not asked yet: an answer to it is ignored
    let (requests, state) = chat.retry(&state, json!({ "a": named("1"), "c": named("early") })).asks();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["b"]);
    // `a` is already answered: a second answer is ignored
    let (requests, state) = chat.retry(&state, json!({ "a": named("9"), "b": named("2") })).asks();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["c"]);
    assert_eq!(chat.retry(&state, json!({ "c": named("3") })).text(), "1 2 3");
    chat.retry(&state, json!([])).is_refused("`inputResponses` is not an object");
    let twice = format!(
        r#"{{"name":"t","requestState":"{state}","inputResponses":{{"c":{{"action":"decline"}},"c":{{"action":"cancel"}}}}}}"#
    );
    chat.raw(&twice).is_refused("`inputResponses` has a duplicate member \"c\"");
    chat.send(None, Some(json!([]))).is_refused("`inputResponses` is not an object");
}

#[test]
fn answers_without_a_state_count_where_they_are_asked_for_and_take_no_room_elsewhere() {
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let a: Name = client.elicit("a?").key("a").await?;
        let b: Name = client.elicit("b?").key("b").await?;
        Ok(a.name + &b.name)
    }
    let chat = with(Tool::new("t", asks));
    let mut responses = json!({ "a": named("1") });
    for n in 0..5_000 {
        responses[format!("junk{n}")] = named("x");
    }
    let (requests, state) = chat.send(None, Some(responses)).asks();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["b"]);
    assert!(state.len() < 500, "{} bytes", state.len());
    assert_eq!(chat.retry(&state, json!({ "b": named("2") })).text(), "12");
}

#[test]
fn of_answers_without_a_state_sixteen_are_looked_for_and_one_that_is_there_twice_is_none() {
    async fn asks(client: Client, Args(Count { n }): Args<Count>) -> Result<String, QuestionError> {
        for at in 0..n {
            let _: Name = client.elicit("?").key(format!("k-{at}-")).await?;
        }
        Ok(n.to_string())
    }
    #[derive(Deserialize, JsonSchema)]
    struct Count {
        n: usize,
    }
    for (n, asked) in [(16, None), (17, Some("k-16-"))] {
        let mut chat = with(Tool::new("t", asks));
        chat.params["arguments"] = json!({ "n": n });
        let answers = (0..n).map(|at| (format!("k-{at}-"), named("x"))).collect::<Map<_, _>>();
        let turn = chat.send(None, Some(Value::Object(answers)));
        match asked {
            None => assert_eq!(turn.text(), "16"),
            Some(key) => assert_eq!(turn.asks().0.keys().collect::<Vec<_>>(), [key]),
        }
    }
    let accept = r#"{"action":"accept","content":{"name":"x"}}"#;
    let twice = format!(
        r#"{{"name":"t","arguments":{{"n":1}},"inputResponses":{{"k-0-":{accept},"k-0-":{accept}}}}}"#
    );
    let (requests, _) = with(Tool::new("t", asks)).raw(&twice).asks();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["k-0-"]);
}

#[test]
fn an_answer_that_a_round_did_not_need_is_kept_for_the_next() {
    static ROUND: AtomicUsize = AtomicUsize::new(0);
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let question = |key: &'static str| client.elicit::<Name>(key).key(key);
        if ROUND.fetch_add(1, Ordering::SeqCst) == 1 {
            question("c").await?;
        }
        let (a, b) = try_join(question("a"), question("b")).await?;
        Ok(a.name + &b.name)
    }
    let chat = with(Tool::new("t", asks));
    let (_, state) = chat.first().asks();
    let (_, state) = chat.retry(&state, json!({ "a": named("1"), "b": named("2") })).asks();
    assert_eq!(chat.retry(&state, json!({ "c": named("3") })).text(), "12");
}

/// A tool that asks one question, and counts how often it ran.
fn careful() -> (Arc<Router>, Arc<AtomicUsize>) {
    #[derive(Deserialize, JsonSchema)]
    struct Order {
        #[expect(dead_code, reason = "only what was sent matters")]
        item: Option<String>,
    }
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let router = router(|router| {
        let asks = move |client: Client, _: Args<Order>| {
            let count = count.clone();
            async move {
                count.fetch_add(1, Ordering::SeqCst);
                client.elicit::<Name>("who?").key("q").await.map(|form| form.name)
            }
        };
        router.tool(Tool::new("order", asks.clone()));
        router.tool(Tool::new("other", asks.clone()));
        router.prompt(Prompt::new("order", async |client: Client| {
            client.elicit::<Name>("who?").key("q").await.map(|form| form.name)
        }));
    });
    (router, runs)
}

#[test]
fn whatever_is_wrong_with_a_state_the_answer_is_the_same_and_the_handler_does_not_run() {
    let (router, runs) = careful();
    let mut chat = chat(&router, "order");
    chat.params["arguments"] = json!({ "item": "tea" });
    chat.principal = Some("ann");
    let (_, state) = chat.first().asks();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let answers = || json!({ "q": named("Ada") });
    let same = Turn::Refused(-32602, "`requestState` is not valid for this request".to_owned());
    let flipped = |at: usize| {
        let mut bytes = state.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    for bad in [
        flipped(0),
        flipped(10),
        flipped(state.len() / 2),
        state[..state.len() - 1].to_owned(),
        format!("{state}-TAMPERED"),
        String::new(),
        "x".to_owned(),
        "A".repeat(1 << 20),
    ] {
        assert_eq!(chat.retry(&bad, answers()), same);
    }
    let mut number = chat.clone();
    number.params["requestState"] = 7.into();
    assert_eq!(number.send(None, Some(answers())), same);
    let other = |change: fn(&mut Chat)| {
        let mut other = chat.clone();
        change(&mut other);
        other
    };
    for other in [
        other(|chat| chat.params["name"] = "other".into()),
        other(|chat| chat.params["arguments"] = json!({ "item": "coffee" })),
        other(|chat| chat.params["arguments"] = json!({})),
        other(|chat| chat.principal = Some("bob")),
        other(|chat| chat.principal = None),
        other(|chat| (chat.method, chat.params) = ("prompts/get", json!({ "name": "order" }))),
        other(|chat| {
            let mut stranger = Router::new("shop", "1");
            stranger.settings_mut().seal.set_keys([[2; 32].into()]);
            stranger.tool(Tool::new("order", async || "ran"));
            chat.router = Arc::new(stranger);
        }),
        other(|chat| {
            let mut stranger = Router::new("shop", "1");
            stranger.settings_mut().seal.set_keys([[1; 32].into()]);
            stranger.settings_mut().audience = Some("another shop".to_owned());
            stranger.tool(Tool::new("order", async || "ran"));
            chat.router = Arc::new(stranger);
        }),
    ] {
        assert_eq!(other.retry(&state, answers()), same);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(chat.retry(&state, answers()).text(), "Ada");
}

#[test]
fn a_state_expires() {
    static NOW: AtomicU64 = AtomicU64::new(0);
    async fn asks(client: Client) -> Result<String, QuestionError> {
        client.elicit::<Name>("who?").key("q").await.map(|form| form.name)
    }
    let router = router(|router| {
        router.settings_mut().seal.clock =
            Arc::new(|| UNIX_EPOCH + Duration::from_secs(NOW.load(Ordering::SeqCst)));
        router.settings_mut().seal.limits =
            StateLimits { life: Duration::from_secs(60), ..StateLimits::default() };
        router.tool(Tool::new("t", asks));
    });
    let chat = chat(&router, "t");
    let (_, state) = chat.first().asks();
    NOW.store(59, Ordering::SeqCst);
    assert_eq!(chat.retry(&state, json!({ "q": named("in time") })).text(), "in time");
    NOW.store(60, Ordering::SeqCst);
    chat.retry(&state, json!({ "q": named("late") })).is_refused("`requestState`");
    assert_eq!(router.calls(), 2);
}

#[test]
fn another_server_with_the_same_key_serves_the_retry() {
    let (here, _) = careful();
    let (there, _) = careful();
    let mut chat = chat(&here, "order");
    let (_, state) = chat.first().asks();
    chat.router = there;
    chat.params = json!({ "arguments": {}, "name": "order" });
    assert_eq!(chat.retry(&state, json!({ "q": named("Ada") })).text(), "Ada");
}

#[test]
fn there_are_sixteen_rounds_and_then_an_error_that_names_the_question() {
    async fn endless(client: Client) -> Result<String, QuestionError> {
        for n in 0.. {
            name(&client, &format!("number {n}?")).await?;
        }
        unreachable!()
    }
    let (rounds, turn) = with(Tool::new("t", endless)).talk();
    assert_eq!(rounds.len(), 16);
    let Turn::Complete(result) = &turn else { panic!("{turn:?}") };
    assert_eq!(result["isError"], true);
    assert_eq!(turn.text(), "too many rounds of questions (the limit is 16): \"number 16?\" is not asked");
}

#[test]
fn a_state_that_would_be_too_large_is_a_tool_error_that_names_the_limit() {
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let long = client.once("long", async || Ok::<_, QuestionError>("x".repeat(20_000))).await?;
        name(&client, "who?").await.map(|_| long)
    }
    let turn = with(Tool::new("t", asks)).first();
    let Turn::Complete(result) = &turn else { panic!("{turn:?}") };
    assert_eq!(result["isError"], true);
    assert!(turn.text().contains("`requestState` would have") && turn.text().contains("16384"), "{turn:?}");
}

#[test]
fn a_step_is_taken_once_and_its_result_kept_in_the_state() {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    async fn asks(client: Client) -> Result<String, QuestionError> {
        let step = async || Ok::<_, QuestionError>(TAKEN.fetch_add(1, Ordering::SeqCst));
        let taken = client.once("reserve", step).await?;
        let failed = client.once("fails", async || Err::<(), _>(TAKEN.load(Ordering::SeqCst))).await;
        let who = name(&client, "who?").await?;
        Ok(format!("{taken} {failed:?} {who}"))
    }
    let chat = with(Tool::new("t", asks));
    let (_, turn) = chat.talk();
    assert_eq!((turn.text(), TAKEN.load(Ordering::SeqCst)), ("0 Err(1) who?", 1));
    let chat = chat.at(Revision::LATEST_HANDSHAKE);
    chat.client.will_answer(named("Ada"));
    assert_eq!((chat.first().text(), TAKEN.load(Ordering::SeqCst)), ("1 Err(2) Ada", 2));
}

#[test]
fn a_client_is_not_asked_for_what_it_did_not_declare() {
    async fn asks(client: Client) -> String {
        let elicited = client.elicit::<Name>("who?").await;
        assert!(matches!(elicited, Err(QuestionError::Unsupported(ClientCapability::ElicitationForm))));
        assert!(matches!(client.roots().await, Err(QuestionError::Unsupported(_))));
        client
            .sample(SamplingRequest::text("?"))
            .key("said")
            .await
            .map(|said| said.text())
            .unwrap_or_default()
    }
    let only = ClientCapabilities { sampling: true, ..ClientCapabilities::default() };
    let chat = with(Tool::new("t", asks)).declaring(only);
    let (requests, _) = chat.first().asks();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["said"]);
}

#[test]
fn a_handler_may_require_a_capability_in_words_or_by_declaration() {
    async fn requires(client: Client) -> Result<&'static str, crate::wire::error::McpError> {
        client.require(ClientCapability::ElicitationUrl)?;
        client.require(ClientCapability::Sampling)?;
        Ok("fine")
    }
    let router = router(|router| {
        router.tool(Tool::new("requires", requires));
        let declared = Tool::new("declared", async || "fine");
        router.tool(declared.requires(ClientCapability::SamplingTools).requires(ClientCapability::Sampling));
    });
    for (tool, data) in [
        ("requires", r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#),
        ("declared", r#"{"requiredCapabilities":{"sampling":{"tools":{}}}}"#),
    ] {
        let chat = chat(&router, tool);
        assert_eq!(chat.first().text(), "fine");
        for (revision, code) in [(Revision::LATEST, -32021), (Revision::LATEST_HANDSHAKE, -32600)] {
            let turn = chat.clone().at(revision).declaring(ClientCapabilities::default()).first();
            assert!(
                matches!(&turn, Turn::Refused(is, message) if *is == code && message.ends_with(data)),
                "{turn:?}"
            );
        }
    }
    assert_eq!(router.calls(), 4, "what is declared is looked at before the handler runs");
}

#[test]
fn a_part_that_runs_elsewhere_may_ask_and_learns_that_the_call_has_gone() {
    struct Woken(AtomicBool);
    impl ArcWake for Woken {
        fn wake_by_ref(woken: &Arc<Self>) {
            woken.0.store(true, Ordering::SeqCst);
        }
    }
    let elsewhere = Arc::new(StdMutex::new(None::<Client>));
    let give = elsewhere.clone();
    let chat = with(Tool::new("t", move |client: Client| {
        *give.lock().unwrap() = Some(client);
        std::future::pending::<String>()
    }));
    let mut call = Box::pin(chat.dispatch(None, None));
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = waker(woken.clone());
    let mut cx = std::task::Context::from_waker(&waker);
    assert!(call.as_mut().poll(&mut cx).is_pending());
    let client = elsewhere.lock().unwrap().take().unwrap();
    let mut asked = client.elicit::<Name>("who?");
    assert!((&mut asked).now_or_never().is_none());
    assert!(woken.0.load(Ordering::SeqCst), "the runner looks");
    let std::task::Poll::Ready(turn) = call.as_mut().poll(&mut cx) else { panic!("the round ends") };
    assert_eq!(turn.asks().0.len(), 1);
    assert!(matches!(asked.now_or_never(), Some(Err(QuestionError::Gone))));
    let late = client.elicit::<Name>("who?").now_or_never();
    assert!(matches!(late, Some(Err(QuestionError::Gone))));

    // the same when the call is cancelled, or has a result
    let mut call = Box::pin(chat.dispatch(None, None));
    assert!(call.as_mut().poll(&mut cx).is_pending());
    let client = elsewhere.lock().unwrap().take().unwrap();
    let mut asked = client.elicit::<Name>("who?");
    assert!((&mut asked).now_or_never().is_none());
    drop(call);
    assert!(matches!(asked.now_or_never(), Some(Err(QuestionError::Gone))));
}

#[test]
fn prompts_and_readers_ask_too_and_what_a_retry_reads_may_not_be_kept() {
    async fn prompt(client: Client) -> Result<String, QuestionError> {
        client.elicit::<Name>("who?").key("q").await.map(|form| form.name)
    }
    async fn read(client: Client) -> Result<String, QuestionError> {
        client.elicit::<Name>("who?").key("q").await.map(|form| form.name)
    }
    let router = router(|router| {
        let cache = Cache::public(Duration::from_secs(5));
        router.prompt(Prompt::new("p", prompt));
        router.resource(Resource::new("test://r", "r", read).cache(cache));
        router.resource(Resource::new("test://plain", "plain", async || "plain").cache(cache));
    });
    let mut chat = chat(&router, "");
    (chat.method, chat.params) = ("prompts/get", json!({ "name": "p" }));
    let (_, state) = chat.first().asks();
    let Turn::Complete(result) = chat.retry(&state, json!({ "q": named("Ada") })) else { panic!() };
    assert_eq!(result["messages"][0]["content"]["text"], "Ada");
    assert_eq!(result["resultType"], "complete");
    (chat.method, chat.params) = ("resources/read", json!({ "uri": "test://r" }));
    let (_, state) = chat.first().asks();
    let Turn::Complete(result) = chat.retry(&state, json!({ "q": named("Ada") })) else { panic!() };
    assert_eq!(result["contents"][0]["text"], "Ada");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    chat.params = json!({ "uri": "test://plain" });
    let Turn::Complete(result) = chat.first() else { panic!() };
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(5_000), &json!("public")));
}

#[test]
fn what_a_question_came_to_is_told_where_a_prompt_or_a_reader_fails_with_it() {
    async fn elicits(client: Client) -> Result<String, QuestionError> {
        name(&client, "who?").await
    }
    async fn samples(client: Client) -> anyhow::Result<String> {
        Ok(client.sample(SamplingRequest::text("?")).await.context("the poem")?.text())
    }
    async fn lists(client: Client) -> Result<String, Box<dyn std::error::Error>> {
        Ok(format!("{:?}", client.roots().await?))
    }
    async fn mistaken(client: Client) -> Result<String, QuestionError> {
        client.elicit_url("?", "nowhere").await.map(|()| String::new())
    }
    let router = router(|router| {
        router.prompt(Prompt::new("elicits", elicits));
        router.prompt(Prompt::new("lists", lists));
        router.prompt(Prompt::new("mistaken", mistaken));
        router.resource(Resource::new("test://samples", "samples", samples));
    });
    let prompt = |name: &str| ("prompts/get", json!({ "name": name }));
    let samples = ("resources/read", json!({ "uri": "test://samples" }));
    let asking = |(method, params): (&'static str, Value)| Chat { method, params, ..chat(&router, "") };

    let fails = |turn: &Turn, of: i64, with: &str| {
        assert!(matches!(turn, Turn::Refused(code, text) if *code == of && text.contains(with)), "{turn:?}");
    };
    for (request, lacks) in [
        (prompt("elicits"), r#"{"requiredCapabilities":{"elicitation":{}}}"#),
        (samples.clone(), r#"{"requiredCapabilities":{"sampling":{}}}"#),
        (prompt("lists"), r#"{"requiredCapabilities":{"roots":{}}}"#),
    ] {
        for (revision, code) in [(Revision::LATEST, -32021), (Revision::LATEST_HANDSHAKE, -32600)] {
            let chat = asking(request.clone()).at(revision).declaring(ClientCapabilities::default());
            fails(&chat.first(), code, lacks);
        }
    }

    let chat = asking(prompt("elicits"));
    let (requests, state) = chat.first().asks();
    let key = requests.keys().next().unwrap();
    fails(&chat.retry(&state, json!({ key: { "action": "decline" } })), -32600, "the user declined");
    let chat = asking(samples).at(Revision::LATEST_HANDSHAKE);
    chat.client.will_fail(QuestionError::TimedOut);
    fails(&chat.first(), -32600, "the client did not answer in time");
    fails(&asking(prompt("mistaken")).first(), -32603, "internal error");
}

#[test]
fn a_completer_cannot_ask() {
    let seen = Arc::new(StdMutex::new(None));
    let told = seen.clone();
    let router = router(|router| {
        let prompt = Prompt::new("p", async || "x").argument("a", "");
        router.prompt(prompt.complete("a", move |client: Client, _: CompletionRequest| {
            let told = told.clone();
            async move {
                let asked = client.elicit::<Name>("who?").await.map(|_| ());
                *told.lock().unwrap() = Some((client.supports(ClientCapability::ElicitationForm), asked));
                Vec::<String>::new()
            }
        }));
    });
    let mut chat = chat(&router, "");
    let argument = json!({ "name": "a", "value": "" });
    chat.method = "completion/complete";
    chat.params = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": argument });
    assert!(matches!(chat.first(), Turn::Complete(_)));
    let seen = seen.lock().unwrap().take();
    assert!(matches!(seen, Some((false, Err(QuestionError::Unsupported(_))))), "{seen:?}");
}

#[test]
fn the_notice_that_a_url_elicitation_is_done_is_not_sent() {
    async fn done(client: Client) -> Result<&'static str, QuestionError> {
        client.elicitation_complete("x").await.map(|()| "done")
    }
    let chat = with(Tool::new("t", done));
    assert_eq!(chat.first().text(), "done");
    assert!(chat.client.sent().is_empty());
}

mod by_hand {
    use super::*;
    use crate::ask::{
        input_required::{InputRequired, Outcome},
        responses::InputResponses,
    };

    async fn interview(answers: InputResponses) -> Result<Outcome<String>, QuestionError> {
        let step: u32 = answers.state().map_or(0, |state| state.parse().unwrap());
        let ask = InputRequired::new().state((step + 1).to_string());
        let Some(first) = answers.elicited::<Name>("step1")? else {
            return Ok(ask.elicit::<Name>("step1", "your name?").into());
        };
        let Some(second) = answers.elicited::<Name>("step2")? else {
            let ask = ask.elicit_url("old", "?", "https://example.com/").roots("old").roots("roots");
            return Ok(ask.elicit::<Name>("step2", "your colour?").into());
        };
        let roots = answers.roots("roots").unwrap_or_default().unwrap_or_default().len();
        Ok(Outcome::Complete(format!("{} {} {roots} in {step}", first.name, second.name)))
    }

    #[test]
    fn a_handler_may_give_back_its_questions_and_is_called_with_their_answers() {
        let chat = with(Tool::new("t", interview));
        let (requests, state) = chat.first().asks();
        assert_eq!(requests.keys().collect::<Vec<_>>(), ["step1"]);
        assert_eq!(requests["step1"]["params"]["message"], "your name?");
        let (requests, state) =
            chat.retry(&state, json!({ "step1": named("Ada"), "step2": named("x") })).asks();
        assert_eq!(requests.keys().collect::<Vec<_>>(), ["old", "roots", "step2"]);
        let answers = json!({ "step2": named("red"), "roots": { "roots": [{ "uri": "file:///" }] } });
        assert_eq!(chat.retry(&state, answers).text(), "Ada red 1 in 2");
        chat.retry(&state, json!({ "step2": { "action": "accept" } })).is_refused("\"step2\"");
    }

    #[test]
    fn in_a_session_the_client_is_asked_and_the_handler_called_again() {
        let chat = with(Tool::new("t", interview)).at(Revision::LATEST_HANDSHAKE);
        for answer in [named("Ada"), json!({ "roots": [] }), json!({ "roots": [] }), named("red")] {
            chat.client.will_answer(answer);
        }
        assert_eq!(chat.first().text(), "Ada red 0 in 2");
        assert_eq!((chat.client.asked().len(), chat.router.calls()), (4, 3));
        chat.client.will_fail(QuestionError::TimedOut);
        assert_eq!(
            chat.first().text(),
            "could not get an answer for \"step1\": the client did not answer in time"
        );
    }

    #[test]
    fn a_handler_that_never_stops_asking_has_sixteen_rounds_in_either_era() {
        async fn endless() -> Outcome<String> {
            InputRequired::new().roots("again").into()
        }
        let chat = with(Tool::new("t", endless));
        let mut turn = chat.first();
        let mut rounds = 0;
        while let Turn::NewQuestion { state, .. } = turn {
            turn = chat.retry(&state, json!({ "again": { "roots": [] } }));
            rounds += 1;
        }
        assert_eq!(rounds, 16);
        let why = turn.text().to_owned();
        let chat = chat.at(Revision::LATEST_HANDSHAKE);
        (0..16).for_each(|_| chat.client.will_answer(json!({ "roots": [] })));
        assert_eq!(chat.first().text(), why);
    }

    #[test]
    fn what_the_client_did_not_declare_is_missing_and_not_asked() {
        async fn asks() -> Outcome<String> {
            InputRequired::new().roots("r").elicit_url("u", "?", "https://example.com/").into()
        }
        let chat = with(Tool::new("t", asks)).declaring(ClientCapabilities::default());
        let data = r#"{"requiredCapabilities":{"roots":{},"elicitation":{"url":{}}}}"#;
        let turn = chat.first();
        assert!(matches!(&turn, Turn::Refused(-32021, message) if message.ends_with(data)), "{turn:?}");
        let turn = chat.at(Revision::LATEST_HANDSHAKE).declaring(ClientCapabilities::default()).first();
        assert!(matches!(&turn, Turn::Refused(-32600, message) if message.ends_with(data)), "{turn:?}");
    }

    #[test]
    fn prompts_and_readers_do_it_too_and_no_question_at_all_is_a_state_alone() {
        async fn prompt(answers: InputResponses) -> Outcome<String> {
            match answers.state() {
                Some(state) => Outcome::Complete(state),
                None => InputRequired::new().state("seen").into(),
            }
        }
        async fn read(answers: InputResponses) -> Outcome<Vec<ResourceContents>> {
            match answers.state() {
                Some(state) => Outcome::Complete(vec![ResourceContents::text("test://r", state)]),
                None => InputRequired::new().state("seen").into(),
            }
        }
        let router = router(|router| {
            router.prompt(Prompt::new("p", prompt));
            router.resource(Resource::new("test://r", "r", read));
        });
        let mut chat = chat(&router, "");
        for (method, params) in
            [("prompts/get", json!({ "name": "p" })), ("resources/read", json!({ "uri": "test://r" }))]
        {
            (chat.method, chat.params) = (method, params);
            let (requests, state) = chat.first().asks();
            assert!(requests.is_empty());
            let turn = chat.send(Some(&state), None);
            assert!(
                matches!(&turn, Turn::Complete(result) if result.to_string().contains("seen")),
                "{turn:?}"
            );
            let turn = chat.clone().at(Revision::LATEST_HANDSHAKE).first();
            assert!(
                matches!(&turn, Turn::Complete(result) if result.to_string().contains("seen")),
                "{turn:?}"
            );
        }
    }

    #[test]
    fn questions_by_hand_end_the_round_of_the_call_that_they_are_converted_for() {
        use crate::call::result::IntoToolResult;
        let call = Fake::new(Revision::LATEST, ALL).call(None);
        let complete = Outcome::Complete("done").into_tool_result(&call).unwrap();
        assert!(!complete.content.is_empty() && !call.requires_input());
        assert!(Outcome::<Content>::from(InputRequired::new()).into_tool_result(&call).is_ok());
        assert!(call.requires_input());
    }
}
