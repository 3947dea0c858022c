use serde_json::json;

use super::*;
use crate::wire::content::{EmbeddedResource, Icon, MediaContent, MetaMap};

fn meta() -> Option<MetaMap> {
    json!({ "a/b": 1 }).as_object().cloned()
}

fn hints() -> Option<Annotations> {
    Some(Annotations { priority: Some(0.5), last_modified: Some("2025-01-01".to_owned()), audience: None })
}

/// The members of a value at each revision, oldest first.
fn members<T: Clone + serde::Serialize>(value: &T, adapt: fn(&mut T, Revision)) -> Vec<String> {
    let at = |revision: &Revision| {
        let mut value = value.clone();
        adapt(&mut value, *revision);
        let value = serde_json::to_value(value).unwrap();
        let mut names: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        names.sort();
        names.join(" ")
    };
    Revision::ALL.iter().map(at).collect()
}

fn json_at(block: Content, revision: Revision) -> serde_json::Value {
    let mut block = block;
    content(&mut block, revision);
    serde_json::to_value(block).unwrap()
}

#[test]
fn revisions_are_listed_oldest_first_and_read_back() {
    assert!(Revision::ALL.is_sorted_by_key(|revision| revision.as_str()));
    assert_eq!(Revision::ALL.last(), Some(&Revision::LATEST));
    for (index, revision) in Revision::ALL.iter().enumerate() {
        assert_eq!(Revision::parse(revision.as_str()), Some(*revision));
        assert_eq!(revision.index(), index);
    }
    assert_eq!(Revision::parse("2027-01-01"), None);
    assert_eq!(negotiate("2026-07-28"), Revision::LATEST_HANDSHAKE, "no handshake opens it");
}

#[test]
fn a_feature_is_in_the_revisions_that_define_it() {
    let has =
        |feature| Revision::ALL.iter().map(|revision| u8::from(revision.has(feature))).collect::<Vec<_>>();
    assert_eq!(has(Feature::Batching), [0, 1, 0, 0, 0]);
    for feature in
        [Feature::Audio, Feature::ToolAnnotations, Feature::CompletionsCapability, Feature::ProgressMessage]
    {
        assert_eq!(has(feature), [0, 1, 1, 1, 1], "{feature:?}");
    }
    for feature in [
        Feature::Title,
        Feature::Meta,
        Feature::LastModified,
        Feature::ResourceLink,
        Feature::StructuredContent,
        Feature::Elicitation,
    ] {
        assert_eq!(has(feature), [0, 0, 1, 1, 1], "{feature:?}");
    }
    for feature in [
        Feature::UrlElicitation,
        Feature::ElicitationEnumTitles,
        Feature::ElicitationMultiSelect,
        Feature::ElicitationDefaults,
        Feature::SamplingTools,
        Feature::SamplingContextCapability,
        Feature::Icons,
        Feature::ServerDescription,
        Feature::ErrorWithoutId,
    ] {
        assert_eq!(has(feature), [0, 0, 0, 1, 1], "{feature:?}");
    }
    for feature in [Feature::UrlElicitationId, Feature::StreamPolling] {
        assert_eq!(has(feature), [0, 0, 0, 1, 0], "{feature:?}");
    }
    for feature in [Feature::Handshake, Feature::ResourceNotFoundCode] {
        assert_eq!(has(feature), [1, 1, 1, 1, 0], "{feature:?}");
    }
    for feature in [Feature::AnyStructuredContent, Feature::Stateless] {
        assert_eq!(has(feature), [0, 0, 0, 0, 1], "{feature:?}");
    }
}

#[test]
fn an_error_without_an_id_has_null_where_the_schema_requires_one() {
    let ids: Vec<_> = Revision::ALL.iter().map(|revision| unreadable_id(*revision)).collect();
    assert_eq!(ids, [ErrorId::Null, ErrorId::Null, ErrorId::Null, ErrorId::Absent, ErrorId::Absent]);
}

#[test]
fn audio_becomes_text_before_it_existed() {
    let data = crate::wire::content::Base64(vec![0; 3]);
    let audio = MediaContent { data, mime_type: "audio/wav".to_owned(), annotations: hints(), meta: None };
    let old = json_at(Content::Audio(audio.clone()), Revision::V2024_11_05);
    assert_eq!(old["type"], "text");
    assert!(old["text"].as_str().unwrap().contains("audio/wav, 3 bytes"));
    assert_eq!(old["annotations"], json!({ "priority": 0.5 }));
    for revision in &Revision::ALL[1..] {
        assert_eq!(json_at(Content::Audio(audio.clone()), *revision)["type"], "audio");
    }
}

#[test]
fn a_resource_link_becomes_text_that_holds_its_uri_before_it_existed() {
    let link = ResourceLink {
        uri: "mem://a".to_owned(),
        name: "a".to_owned(),
        description: Some("the letter".to_owned()),
        icons: Some(vec![Icon::new("data:,")]),
        meta: meta(),
        annotations: hints(),
        ..ResourceLink::default()
    };
    for old in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let block = json_at(Content::ResourceLink(link.clone()), old);
        assert_eq!(
            (&block["type"], &block["text"]),
            (&json!("text"), &json!("[resource: a, mem://a] the letter"))
        );
        assert!(block.get("_meta").is_none());
    }
    let middle = json_at(Content::ResourceLink(link.clone()), Revision::V2025_06_18);
    assert!(
        middle["type"] == "resource_link" && middle.get("icons").is_none() && middle.get("_meta").is_some()
    );
    assert!(json_at(Content::ResourceLink(link), Revision::V2025_11_25).get("icons").is_some());
}

#[test]
fn meta_and_dates_leave_every_block_of_the_revisions_without_them() {
    let text = TextContent { text: "t".to_owned(), annotations: hints(), meta: meta() };
    let mut inner = ResourceContents::text("mem://a", "t");
    inner.meta = meta();
    let media = MediaContent { annotations: hints(), meta: meta(), ..MediaContent::default() };
    for block in [
        Content::Text(text),
        Content::Image(media.clone()),
        Content::Audio(media),
        Content::Resource(EmbeddedResource { resource: inner, annotations: hints(), meta: meta() }),
    ] {
        for revision in Revision::ALL {
            let written = json_at(block.clone(), *revision).to_string();
            assert_eq!(written.contains("_meta"), revision.has(Feature::Meta), "{revision:?} {written}");
            assert_eq!(
                written.contains("lastModified"),
                revision.has(Feature::LastModified),
                "{revision:?} {written}"
            );
            assert!(written.contains("priority"));
        }
    }
}

fn full_tool() -> ToolDefinition {
    ToolDefinition::new("t", json!({ "type": "object" }))
        .title("T")
        .description("d")
        .output_schema(json!({ "type": "object" }))
        .icon(Icon::new("data:,"))
        .meta("k", 1)
}

#[test]
fn a_tool_has_the_members_of_its_revision() {
    assert_eq!(
        members(&full_tool(), tool),
        [
            "description inputSchema name",
            "annotations description inputSchema name",
            "_meta description inputSchema name outputSchema title",
            "_meta description icons inputSchema name outputSchema title",
            "_meta description icons inputSchema name outputSchema title",
        ]
    );
}

#[test]
fn a_tools_title_is_where_its_revision_looks_for_it() {
    let mut definition = full_tool();
    tool(&mut definition, Revision::V2025_03_26);
    assert_eq!(definition.annotations.unwrap().title.as_deref(), Some("T"));
}

#[test]
fn an_output_schema_that_is_no_object_is_in_no_revision_with_a_handshake() {
    for schema in [r#"{"type":"array"}"#, r#"{"type":["object","null"]}"#, "{}", "true"] {
        let mut definition = full_tool();
        definition.output_schema = RawValue::from_string(schema.to_owned()).ok();
        tool(&mut definition, Revision::LATEST_HANDSHAKE);
        assert!(definition.output_schema.is_none(), "{schema}");
        definition.output_schema = RawValue::from_string(schema.to_owned()).ok();
        tool(&mut definition, Revision::LATEST);
        assert!(definition.output_schema.is_some(), "{schema}");
    }
    let sends =
        |json| Revision::ALL.iter().map(|revision| sends_structured(json, *revision)).collect::<Vec<_>>();
    assert_eq!(sends(" {}"), [false, false, true, true, true]);
    assert_eq!(sends("[]"), [false, false, false, false, true]);
}

#[test]
fn other_definitions_have_the_members_of_their_revision() {
    let icons = vec![Icon::new("data:,")];
    let title = Some("T".to_owned());
    let argument = crate::wire::definition::PromptArgument {
        name: "a".to_owned(),
        title: title.clone(),
        description: None,
        required: true,
    };
    let definition = PromptDefinition {
        name: "p".to_owned(),
        title: title.clone(),
        description: None,
        arguments: vec![argument],
        icons: icons.clone(),
        meta: meta(),
    };
    let of_prompt = [
        "arguments name",
        "arguments name",
        "_meta arguments name title",
        "_meta arguments icons name title",
        "_meta arguments icons name title",
    ];
    assert_eq!(members(&definition, prompt), of_prompt);
    let mut old = definition;
    prompt(&mut old, Revision::V2025_03_26);
    assert_eq!(old.arguments[0].title, None);

    let definition = ResourceDefinition {
        uri: "mem://a".to_owned(),
        name: "a".to_owned(),
        title: title.clone(),
        description: None,
        mime_type: None,
        size: Some(1),
        annotations: hints(),
        icons: icons.clone(),
        meta: meta(),
    };
    assert_eq!(
        members(&definition, resource),
        [
            "annotations name size uri",
            "annotations name size uri",
            "_meta annotations name size title uri",
            "_meta annotations icons name size title uri",
            "_meta annotations icons name size title uri",
        ]
    );
    let mut old = definition;
    resource(&mut old, Revision::V2025_03_26);
    assert_eq!(old.annotations.unwrap().last_modified, None);

    let definition = TemplateDefinition {
        uri_template: "mem://{a}".to_owned(),
        name: "a".to_owned(),
        title: title.clone(),
        description: None,
        mime_type: None,
        annotations: None,
        icons: icons.clone(),
        meta: meta(),
    };
    assert_eq!(
        members(&definition, template),
        [
            "name uriTemplate",
            "name uriTemplate",
            "_meta name title uriTemplate",
            "_meta icons name title uriTemplate",
            "_meta icons name title uriTemplate",
        ]
    );

    let info = ServerInfo {
        name: "s".to_owned(),
        version: "1".to_owned(),
        title,
        description: Some("d".to_owned()),
        website_url: Some("https://example.com".to_owned()),
        icons,
    };
    assert_eq!(
        members(&info, server_info),
        [
            "name version",
            "name version",
            "name title version",
            "description icons name title version websiteUrl",
            "description icons name title version websiteUrl",
        ]
    );
}

#[test]
fn the_code_that_asks_for_a_url_elicitation_is_only_sent_where_it_exists() {
    let mut asking = McpError::new(ErrorCode::URL_ELICITATION_REQUIRED, "sign in")
        .with_data(json!({ "elicitations": [{ "mode": "url" }] }));
    assert!(error(&mut asking, Revision::V2025_11_25));
    assert_eq!(asking.code, ErrorCode::URL_ELICITATION_REQUIRED);
    for without in [Revision::V2025_06_18, Revision::V2026_07_28] {
        assert!(!error(&mut asking.clone(), without), "{without:?}");
    }
}

// C114
#[test]
fn a_reserved_code_leaves_only_where_it_is_defined_and_means_that() {
    for revision in Revision::ALL.iter().copied() {
        for code in (-32_099..=-32_000).filter(|code| ![-32_002, -32_021, -32_042].contains(code)) {
            let mut reserved = McpError::new(ErrorCode(code), "mine").with_data(json!({ "a": 1 }));
            assert!(!error(&mut reserved, revision), "{code} {revision:?}");
        }
        for code in
            [-32_700, -32_603, -32_602, -32_601, -32_600, -32_100, -31_999, -1, 0, 404, i64::MIN, i64::MAX]
        {
            let mut own = McpError::new(ErrorCode(code), "mine");
            assert!(error(&mut own, revision) && own.code.0 == code, "{code} {revision:?}");
        }
        let stateless = revision.has(Feature::Stateless);
        let mut gone = McpError::new(ErrorCode::RESOURCE_NOT_FOUND, "gone");
        assert!(error(&mut gone, revision));
        assert_eq!(gone.code.0, if stateless { -32_602 } else { -32_002 }, "{revision:?}");
        let mut missing = McpError::new(ErrorCode::MISSING_CLIENT_CAPABILITY, "lacks");
        assert!(error(&mut missing, revision));
        assert_eq!(missing.code.0, if stateless { -32_021 } else { -32_600 }, "{revision:?}");
    }
}
