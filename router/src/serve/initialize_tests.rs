use serde_json::{Value, json};

use super::*;

fn open(params: Value) -> Result<Opening, McpError> {
    Opening::read(&Parameters::read(params.to_string()).unwrap(), 8)
}

fn with(version: &str, capabilities: Value) -> ClientCapabilities {
    let info = json!({ "name": "t", "version": "1" });
    open(json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": info }))
        .unwrap()
        .capabilities
}

#[test]
fn a_served_revision_is_agreed_on_and_any_other_is_countered_with_the_latest() {
    for (asked, agreed) in [
        ("2024-11-05", Revision::V2024_11_05),
        ("2025-03-26", Revision::V2025_03_26),
        ("2025-06-18", Revision::V2025_06_18),
        ("2025-11-25", Revision::V2025_11_25),
        ("2026-07-28", Revision::V2025_11_25),
        ("1999-01-01", Revision::V2025_11_25),
        ("", Revision::V2025_11_25),
    ] {
        let info = json!({ "name": "t", "version": "1" });
        let opening =
            open(json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": info })).unwrap();
        assert_eq!(opening.revision, agreed, "{asked}");
    }
}

#[test]
fn a_refusal_names_the_member_at_fault() {
    let good = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    for (pointer, value, names) in [
        ("protocolVersion", json!(5), "`protocolVersion`"),
        ("protocolVersion", Value::Null, "`protocolVersion`"),
        ("capabilities", json!([]), "`capabilities`"),
        ("capabilities", Value::Null, "`capabilities`"),
        ("clientInfo", json!("t"), "`clientInfo`"),
        ("clientInfo", json!({ "version": "1" }), "`clientInfo.name`"),
        ("clientInfo", json!({ "name": "t", "version": 1 }), "`clientInfo.version`"),
        ("clientInfo", json!({ "name": "123456789", "version": "1" }), "`clientInfo.name`"),
        ("clientInfo", json!({ "name": "12345678", "version": "123456789" }), "`clientInfo.version`"),
    ] {
        let mut params = good.clone();
        params[pointer] = value;
        let error = open(params.clone()).unwrap_err();
        assert_eq!(error.code.0, -32602, "{params}");
        assert!(error.message.contains(names), "{params}: {}", error.message);
    }
    for missing in ["protocolVersion", "capabilities", "clientInfo"] {
        let mut params = good.clone();
        params.as_object_mut().unwrap().remove(missing);
        assert_eq!(open(params).unwrap_err().message, format!("`{missing}` is missing"));
    }
    assert_eq!(Opening::read(&Parameters::default(), 8).unwrap_err().message, "`protocolVersion` is missing");
}

#[test]
fn members_nobody_knows_are_ignored_and_null_is_absent() {
    let opening = open(json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "elicitation": { "form": {}, "url": {} },
            "tasks": { "list": {}, "requests": { "sampling": { "createMessage": {} } } },
            "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } },
            "experimental": { "x": {} },
            "futureThing": { "a": [1] },
            "roots": null,
            "sampling": null,
        },
        "clientInfo": {
            "name": "t", "version": "1", "title": null, "icons": [{}], "websiteUrl": 1, "description": [], "extra": true,
        },
        "extra": {},
    }))
    .unwrap();
    let both =
        ClientCapabilities { elicitation_form: true, elicitation_url: true, ..ClientCapabilities::default() };
    assert_eq!(opening.capabilities, both);
    assert_eq!(opening.info.title, None);
}

#[test]
fn elicitation_that_names_no_mode_is_form() {
    let modes = |declared| {
        let capabilities = with("2025-11-25", json!({ "elicitation": declared }));
        (capabilities.elicitation_form, capabilities.elicitation_url)
    };
    assert_eq!(modes(json!({})), (true, false));
    assert_eq!(modes(json!({ "form": {} })), (true, false));
    assert_eq!(modes(json!({ "url": {} })), (false, true));
    assert_eq!(modes(json!({ "form": null, "url": null })), (true, false));
    assert_eq!(modes(json!("yes")), (false, false));
}

#[test]
fn what_a_revision_lacks_is_not_declared_in_it() {
    let all = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} });
    let declared = |version| {
        let has = with(version, all.clone());
        assert!(has.sampling && has.roots);
        (has.elicitation_form, has.elicitation_url, has.sampling_tools, has.sampling_context)
    };
    assert_eq!(declared("2024-11-05"), (false, false, false, true));
    assert_eq!(declared("2025-03-26"), (false, false, false, true));
    assert_eq!(declared("2025-06-18"), (true, false, false, true));
    assert_eq!(declared("2025-11-25"), (true, true, true, false));
}

#[test]
fn a_server_that_offers_nothing_declares_nothing() {
    let mut router = Router::new("s", "1");
    router.settings_mut().instructions = Some("use it".to_owned());
    router.settings_mut().info.title = Some("S".to_owned());
    let result = |revision| serde_json::to_value(router.initialize_result(revision)).unwrap();
    assert_eq!(
        result(Revision::V2025_11_25),
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": { "name": "s", "version": "1", "title": "S" },
            "instructions": "use it",
        })
    );
    assert_eq!(result(Revision::V2025_03_26)["serverInfo"], json!({ "name": "s", "version": "1" }));
}
